// resvg in JavaScript's own WebAssembly: given the bytes of the module and of fonts, a function that runs its command.
// The module is a program of its own (WASI): it reads the picture and the fonts from files in memory, and writes a PNG
// to its output.
(bytes, fonts) => {
  const module = new WebAssembly.Module(bytes);
  const [BAD_FILE, NO_ENTRY, FOLDER, FILE] = [8, 44, 3, 4];
  const coded = (text) => new TextEncoder().encode(text);
  return (words, picture) => {
    let memory;
    const files = new Map([["picture.svg", coded(picture)], ...fonts.map((data, i) => [`font${i}`, data])]);
    const open = new Map(); // what is being read, by number
    const [output, said] = [[], []];
    const view = () => new DataView(memory.buffer);
    const text = (start, length) => new TextDecoder().decode(new Uint8Array(memory.buffer, start, length));
    const vectors = (start, count) =>
      [...Array(count).keys()].map((i) => [view().getUint32(start + 8 * i, true), view().getUint32(start + 8 * i + 4, true)]);
    const put = (address, value) => (view().setUint32(address, value, true), 0);
    const status = (address, kind, size) => {
      new Uint8Array(memory.buffer, address, 64).fill(0);
      view().setUint8(address + 16, kind);
      view().setBigUint64(address + 32, BigInt(size), true);
      return 0;
    };
    const named = (start, length) => files.get(text(start, length).replace(/^.*\//, ""));
    const given = fonts.flatMap((_, i) => ["--use-font-file", `/font${i}`]);
    const args = ["resvg", ...words, ...given, "/picture.svg", "-c"].map((word) => coded(`${word}\0`));
    const system = {
      args_sizes_get: (count, size) => put(count, args.length) || put(size, args.reduce((sum, each) => sum + each.length, 0)),
      args_get(places, start) {
        for (const [i, each] of args.entries()) {
          put(places + 4 * i, start);
          new Uint8Array(memory.buffer).set(each, start);
          start += each.length;
        }
        return 0;
      },
      environ_sizes_get: (count, size) => put(count, 0) || put(size, 0),
      environ_get: () => 0,
      clock_time_get(clock, precision, result) {
        view().setBigUint64(result, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
      },
      random_get(start, length) {
        crypto.getRandomValues(new Uint8Array(memory.buffer, start, length));
        return 0;
      },
      fd_prestat_get: (file, result) => (file === 3 ? put(result, 0) || put(result + 4, 1) : BAD_FILE),
      fd_prestat_dir_name(file, start) {
        new Uint8Array(memory.buffer).set(coded("/"), start);
        return 0;
      },
      path_filestat_get(folder, flags, start, length, result) {
        const data = named(start, length);
        return data ? status(result, FILE, data.length) : NO_ENTRY;
      },
      path_open(folder, lookup, start, length, flags, base, inheriting, mode, result) {
        const data = named(start, length);
        if (!data) return NO_ENTRY;
        const number = 4 + open.size;
        open.set(number, { data, at: 0 });
        return put(result, number);
      },
      fd_filestat_get(file, result) {
        const found = open.get(file);
        return found ? status(result, FILE, found.data.length) : file === 3 ? status(result, FOLDER, 0) : BAD_FILE;
      },
      fd_read(file, start, count, result) {
        const found = open.get(file);
        if (!found) return BAD_FILE;
        let size = 0;
        for (const [address, room] of vectors(start, count)) {
          const part = found.data.subarray(found.at, found.at + room);
          new Uint8Array(memory.buffer).set(part, address);
          found.at += part.length;
          size += part.length;
        }
        return put(result, size);
      },
      fd_write(file, start, count, result) {
        let size = 0;
        for (const [address, length] of vectors(start, count)) {
          (file === 1 ? output : said).push(new Uint8Array(memory.buffer, address, length).slice());
          size += length;
        }
        return put(result, size);
      },
      fd_close: () => 0,
      proc_exit(code) {
        throw new Error(`exit ${code}`);
      },
    };
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = system[name] ?? (() => BAD_FILE);
    }
    const { exports } = new WebAssembly.Instance(module, imports);
    memory = exports.memory;
    const joined = (parts) => {
      const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
      parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
      return whole;
    };
    try {
      exports._start();
    } catch (error) {
      if (!String(error.message).startsWith("exit 0")) throw new Error(new TextDecoder().decode(joined(said)) || error.message);
    }
    return joined(output);
  };
};
