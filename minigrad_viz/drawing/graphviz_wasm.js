// Graphviz in JavaScript's own WebAssembly: given the bytes of the module, a function that renders. Each call has a
// new instance, so a fault in one leaves nothing behind. Both steps are synchronous, which only a worker may do with a
// module of this size.
(code) => {
  const module = new WebAssembly.Module(code);
  return (dot, format, layout) => {
    const { start, bytes, view } = program(module);
    const exports = start();
    const store = (text) => {
      const data = new TextEncoder().encode(text + "\0");
      const address = exports.malloc(data.length);
      if (address === 0) throw new Error("no memory for its text");
      bytes(address, data.length).set(data);
      return address;
    };
    const length = store("\0\0\0");
    const result = exports.graphviz_render(store(dot), store(format), store(layout), length);
    if (result !== 0) return { output: bytes(result, view().getUint32(length, true)).slice() };
    const said = bytes(exports.graphviz_last_error(), 4096);
    return { message: new TextDecoder().decode(said.slice(0, said.indexOf(0))) };
  };
};
