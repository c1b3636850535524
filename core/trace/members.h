// Lists the operations that are also members of Tensor: x.sum(1) is sum(x, 1).
// core/trace/functions.h says what they do. This file is included twice: tensor.h declares the
// members, with the values of parameters that are not given, and functions.h defines them.
//
//   XLAPROF_MEMBER(type, name, (parameters), arguments)
//   XLAPROF_OR(value): the value of a parameter that is not given

#define XLAPROF_WHERE Where where XLAPROF_OR(Where::current())
#define XLAPROF_ONE(name) XLAPROF_MEMBER(Tensor, name, (XLAPROF_WHERE))
#define XLAPROF_TWO(name)                                                   \
  XLAPROF_MEMBER(Tensor, name, (const Tensor& other, XLAPROF_WHERE), other) \
  XLAPROF_MEMBER(Tensor, name, (Scalar other, XLAPROF_WHERE), other)
#define XLAPROF_OVER(name)                                                                     \
  XLAPROF_MEMBER(Tensor, name,                                                                 \
                 (DimList dims XLAPROF_OR({}), bool keepdim XLAPROF_OR(false), XLAPROF_WHERE), \
                 std::move(dims), keepdim)
#define XLAPROF_ALONG(name) XLAPROF_MEMBER(Tensor, name, (int64_t dim, XLAPROF_WHERE), dim)
#define XLAPROF_ALONG_KEEPING(type, name)                                                       \
  XLAPROF_MEMBER(type, name, (int64_t dim, bool keepdim XLAPROF_OR(false), XLAPROF_WHERE), dim, \
                 keepdim)
#define XLAPROF_AT(name)                                                                     \
  XLAPROF_MEMBER(Tensor, name,                                                               \
                 (int64_t dim, const Tensor& index, const Tensor& from, XLAPROF_WHERE), dim, \
                 index, from)

XLAPROF_ONE(neg)
XLAPROF_ONE(abs)
XLAPROF_ONE(exp)
XLAPROF_ONE(log)
XLAPROF_ONE(log1p)
XLAPROF_ONE(log2)
XLAPROF_ONE(tanh)
XLAPROF_ONE(sqrt)
XLAPROF_ONE(rsqrt)
XLAPROF_ONE(sigmoid)
XLAPROF_ONE(relu)
XLAPROF_ONE(sin)
XLAPROF_ONE(cos)
XLAPROF_ONE(tan)
XLAPROF_ONE(floor)
XLAPROF_ONE(ceil)
XLAPROF_ONE(round)
XLAPROF_ONE(sign)
XLAPROF_ONE(square)
XLAPROF_ONE(reciprocal)
XLAPROF_ONE(erf)
XLAPROF_ONE(logical_not)
XLAPROF_ONE(isnan)
XLAPROF_ONE(isinf)
XLAPROF_ONE(isfinite)
XLAPROF_TWO(add)
XLAPROF_TWO(sub)
XLAPROF_TWO(mul)
XLAPROF_TWO(div)
XLAPROF_TWO(pow)
XLAPROF_TWO(remainder)
XLAPROF_TWO(maximum)
XLAPROF_TWO(minimum)
XLAPROF_TWO(eq)
XLAPROF_TWO(ne)
XLAPROF_TWO(lt)
XLAPROF_TWO(le)
XLAPROF_TWO(gt)
XLAPROF_TWO(ge)
XLAPROF_TWO(logical_and)
XLAPROF_TWO(logical_or)
XLAPROF_MEMBER(Tensor, matmul, (const Tensor& other, XLAPROF_WHERE), other)
XLAPROF_MEMBER(Tensor, clamp, (Scalar least, Scalar most, XLAPROF_WHERE), least, most)
XLAPROF_MEMBER(Tensor, masked_fill, (const Tensor& mask, Scalar value, XLAPROF_WHERE), mask, value)

XLAPROF_OVER(sum)
XLAPROF_OVER(mean)
XLAPROF_OVER(prod)
XLAPROF_OVER(amax)
XLAPROF_OVER(amin)
XLAPROF_OVER(any)
XLAPROF_OVER(all)
XLAPROF_ONE(max)
XLAPROF_ONE(min)
XLAPROF_ALONG_KEEPING(ValuesAndIndices, max)
XLAPROF_ALONG_KEEPING(ValuesAndIndices, min)
XLAPROF_ALONG_KEEPING(Tensor, argmax)
XLAPROF_ALONG_KEEPING(Tensor, argmin)
XLAPROF_ALONG_KEEPING(Tensor, logsumexp)
XLAPROF_ALONG(cumsum)
XLAPROF_ALONG(softmax)
XLAPROF_ALONG(log_softmax)
XLAPROF_MEMBER(Tensor, norm,
               (double p XLAPROF_OR(2), DimList dims XLAPROF_OR({}), bool keepdim XLAPROF_OR(false),
                XLAPROF_WHERE),
               p, std::move(dims), keepdim)
XLAPROF_MEMBER(Tensor, var,
               (DimList dims XLAPROF_OR({}), int64_t correction XLAPROF_OR(1),
                bool keepdim XLAPROF_OR(false), XLAPROF_WHERE),
               std::move(dims), correction, keepdim)

XLAPROF_MEMBER(Tensor, repeat, (Dims counts, XLAPROF_WHERE), std::move(counts))
XLAPROF_MEMBER(Tensor, flip, (DimList dims, XLAPROF_WHERE), std::move(dims))
XLAPROF_MEMBER(Tensor, roll, (DimList shifts, DimList dims XLAPROF_OR({}), XLAPROF_WHERE),
               std::move(shifts), std::move(dims))
XLAPROF_MEMBER(Tensor, tril, (int64_t diagonal XLAPROF_OR(0), XLAPROF_WHERE), diagonal)
XLAPROF_MEMBER(Tensor, triu, (int64_t diagonal XLAPROF_OR(0), XLAPROF_WHERE), diagonal)
XLAPROF_MEMBER(std::vector<Tensor>, split, (int64_t size, int64_t dim XLAPROF_OR(0), XLAPROF_WHERE),
               size, dim)
XLAPROF_MEMBER(std::vector<Tensor>, chunk,
               (int64_t chunks, int64_t dim XLAPROF_OR(0), XLAPROF_WHERE), chunks, dim)

XLAPROF_MEMBER(Tensor, gather, (int64_t dim, const Tensor& index, XLAPROF_WHERE), dim, index)
XLAPROF_MEMBER(Tensor, index_select, (int64_t dim, const Tensor& index, XLAPROF_WHERE), dim, index)
XLAPROF_AT(scatter)
XLAPROF_AT(scatter_add)
XLAPROF_AT(index_add)
XLAPROF_AT(index_copy)
XLAPROF_MEMBER(ValuesAndIndices, sort,
               (int64_t dim XLAPROF_OR(-1), bool descending XLAPROF_OR(false), XLAPROF_WHERE), dim,
               descending)
XLAPROF_MEMBER(ValuesAndIndices, topk,
               (int64_t k, int64_t dim XLAPROF_OR(-1), bool largest XLAPROF_OR(true),
                XLAPROF_WHERE),
               k, dim, largest)
XLAPROF_ONE(nonzero)
XLAPROF_ONE(unique)

#undef XLAPROF_WHERE
#undef XLAPROF_ONE
#undef XLAPROF_TWO
#undef XLAPROF_OVER
#undef XLAPROF_ALONG
#undef XLAPROF_ALONG_KEEPING
#undef XLAPROF_AT
#undef XLAPROF_MEMBER
#undef XLAPROF_OR
