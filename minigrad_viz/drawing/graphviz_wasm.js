// Graphviz in JavaScript's own WebAssembly: given the bytes of the module, a function that renders. Each call has a
// new instance, so a fault in one leaves nothing behind. Both steps are synchronous, which only a worker may do with a
// module of this size.
(bytes) => {
  const module = new WebAssembly.Module(bytes);
  return (dot, format, program) => {
    let memory;
    const view = () => new DataView(memory.buffer);
    // What the module asks of the system: no files, no environment; what it writes is thrown away.
    const system = {
      environ_sizes_get(count, size) {
        view().setUint32(count, 0, true);
        view().setUint32(size, 0, true);
        return 0;
      },
      environ_get: () => 0,
      clock_time_get(clock, precision, result) {
        view().setBigUint64(result, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
      },
      random_get(start, length) {
        crypto.getRandomValues(new Uint8Array(memory.buffer, start, length));
        return 0;
      },
      fd_write(file, vectors, count, written) {
        let size = 0;
        for (let i = 0; i < count; i++) size += view().getUint32(vectors + 8 * i + 4, true);
        view().setUint32(written, size, true);
        return 0;
      },
      proc_exit(code) {
        throw new Error(`exit ${code}`);
      },
    };
    const BAD_FILE = 8;
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = system[name] ?? (() => BAD_FILE);
    }
    const { exports } = new WebAssembly.Instance(module, imports);
    memory = exports.memory;
    const put = (text) => {
      const data = new TextEncoder().encode(text + "\0");
      const address = exports.malloc(data.length);
      if (address === 0) throw new Error("no memory for its text");
      new Uint8Array(memory.buffer).set(data, address);
      return address;
    };
    const length = put("\0\0\0");
    const result = exports.graphviz_render(put(dot), put(format), put(program), length);
    if (result !== 0) {
      const size = view().getUint32(length, true);
      return { output: new Uint8Array(memory.buffer).slice(result, result + size) };
    }
    const start = exports.graphviz_last_error();
    const said = new Uint8Array(memory.buffer).slice(start, start + 4096);
    return { message: new TextDecoder().decode(said.subarray(0, said.indexOf(0))) };
  };
};
