"""programs_judge.py BUILD [--chains] [COUNT [SEED]] checks that random programs give on our runtime what they give with PyTorch.

The Python of `scripts/env torch` runs it. BUILD/tests/run_programs runs the programs (2,000 unless COUNT says another number), which
generate.py makes, or chains.py. The environment says on which device."""
import json
import pathlib
import subprocess
import sys

import torch

import chains
import generate


def difference(expected, tolerance, got):
    """Returns what is wrong with one result, or None."""
    (what, value), (name, *result) = expected, got
    if what != name:
        return f"is {name}, not {what}"
    if value is None or not result:
        return None if value is None and not result else f"is {result or 'none'}, not {value}"
    dtype, sizes, numbers = result
    if dtype != str(value.dtype).removeprefix("torch.") or sizes != list(value.shape):
        return f"is {dtype}{sizes}, not {value.dtype}{list(value.shape)}"
    other = torch.tensor([float("nan") if n is None else n for n in numbers], dtype=torch.float64).reshape(sizes)
    if generate.alike(value, other, tolerance):
        return None
    return f"is\n{other}\nnot\n{value}"


def run(executable, programs):
    """Returns the answer to each program. A program that ends the process is answered by how it ended."""
    answers = []
    while len(answers) < len(programs):
        text = "".join(json.dumps(program) + "\n" for program in programs[len(answers):])
        ended = subprocess.run([executable], input=text, capture_output=True, text=True)
        answers += [json.loads(line) for line in ended.stdout.splitlines()]
        if ended.returncode != 0:
            answers.append({"error": f"run_programs ended with {ended.returncode}: {ended.stderr[-2000:]}"})
    return answers


def main():
    torch.set_num_threads(1)
    executable = pathlib.Path(sys.argv[1]) / "tests" / "run_programs"
    numbers = [argument for argument in sys.argv[2:] if argument != "--chains"]
    count, seed = (int(a) for a in (numbers + ["2000", "1"][len(numbers):]))
    made = list((chains if "--chains" in sys.argv else generate).programs(seed, count))
    answers = run(executable, [program for program, _ in made])
    wrong, compared = 0, 0
    for (program, results), answer in zip(made, answers):
        if "error" in answer:
            problems = [answer["error"]]
        else:
            compared += len(results.all)
            problems = [f"{expected[0]} {problem}" for expected, tolerance, got in zip(results.all, results.tolerances, answer["results"])
                        if (problem := difference(expected, tolerance, got))]
        if problems:
            wrong += 1
            print(f"program {program['seed']}: {problems[0]}\n  {json.dumps(program)}", file=sys.stderr)
    steps = sum(len(program["steps"]) for program, _ in made)
    print(f"programs: {count} with {steps} steps and {compared} results: {wrong} are not as with PyTorch {torch.__version__}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
