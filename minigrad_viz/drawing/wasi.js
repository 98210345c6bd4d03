// What programs of WASI need in JavaScript's own WebAssembly; the scripts of Graphviz and of resvg begin with this one.
const BAD_FILE = 8;
// A program to be: `system` has the functions that it may call, which are the clock, random numbers, no environment,
// and writing, whose words are thrown away; `start` makes its instance and returns what that exports.
const program = (module) => {
  let memory;
  const bytes = (start, length) => new Uint8Array(memory.buffer, start, length);
  const view = () => new DataView(memory.buffer);
  const put = (address, value) => (view().setUint32(address, value, true), 0);
  const vectors = (start, count) =>
    [...Array(count).keys()].map((i) => [view().getUint32(start + 8 * i, true), view().getUint32(start + 8 * i + 4, true)]);
  const system = {
    environ_sizes_get: (count, size) => put(count, 0) || put(size, 0),
    environ_get: () => 0,
    clock_time_get(clock, precision, result) {
      view().setBigUint64(result, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    random_get: (start, length) => (crypto.getRandomValues(bytes(start, length)), 0),
    fd_write: (file, start, count, result) => put(result, vectors(start, count).reduce((sum, [, length]) => sum + length, 0)),
    proc_exit(code) {
      throw new Error(`exit ${code}`);
    },
  };
  const start = () => {
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = system[name] ?? (() => BAD_FILE);
    }
    const { exports } = new WebAssembly.Instance(module, imports);
    memory = exports.memory;
    return exports;
  };
  return { system, start, bytes, view, put, vectors };
};
