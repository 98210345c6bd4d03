// resvg in JavaScript's own WebAssembly: given the bytes of the module and of fonts, a function that runs its command.
// The module is a program of its own (WASI): it reads the picture and the fonts from files in memory, and writes a PNG
// to its output.
(code, fonts) => {
  const module = new WebAssembly.Module(code);
  const [NO_ENTRY, FOLDER, FILE] = [44, 3, 4];
  const coded = (text) => new TextEncoder().encode(text);
  return (words, picture) => {
    const { system, start, bytes, view, put, vectors } = program(module);
    const files = new Map([["picture.svg", coded(picture)], ...fonts.map((data, i) => [`font${i}`, data])]);
    const open = new Map(); // what is being read, by number
    const [output, said] = [[], []];
    const text = (at, length) => new TextDecoder().decode(bytes(at, length));
    const status = (address, kind, size) => {
      bytes(address, 64).fill(0);
      view().setUint8(address + 16, kind);
      view().setBigUint64(address + 32, BigInt(size), true);
      return 0;
    };
    const named = (at, length) => files.get(text(at, length).replace(/^.*\//, ""));
    const given = fonts.flatMap((_, i) => ["--use-font-file", `/font${i}`]);
    const args = ["resvg", ...words, ...given, "/picture.svg", "-c"].map((word) => coded(`${word}\0`));
    Object.assign(system, {
      args_sizes_get: (count, size) => put(count, args.length) || put(size, args.reduce((sum, each) => sum + each.length, 0)),
      args_get(places, at) {
        for (const [i, each] of args.entries()) {
          put(places + 4 * i, at);
          bytes(at, each.length).set(each);
          at += each.length;
        }
        return 0;
      },
      fd_prestat_get: (file, result) => (file === 3 ? put(result, 0) || put(result + 4, 1) : BAD_FILE),
      fd_prestat_dir_name: (file, at) => (bytes(at, 1).set(coded("/")), 0),
      path_filestat_get(folder, flags, at, length, result) {
        const data = named(at, length);
        return data ? status(result, FILE, data.length) : NO_ENTRY;
      },
      path_open(folder, lookup, at, length, flags, base, inheriting, mode, result) {
        const data = named(at, length);
        if (!data) return NO_ENTRY;
        const number = 4 + open.size;
        open.set(number, { data, at: 0 });
        return put(result, number);
      },
      fd_filestat_get(file, result) {
        const found = open.get(file);
        return found ? status(result, FILE, found.data.length) : file === 3 ? status(result, FOLDER, 0) : BAD_FILE;
      },
      fd_read(file, at, count, result) {
        const found = open.get(file);
        if (!found) return BAD_FILE;
        let size = 0;
        for (const [address, room] of vectors(at, count)) {
          const part = found.data.subarray(found.at, found.at + room);
          bytes(address, part.length).set(part);
          found.at += part.length;
          size += part.length;
        }
        return put(result, size);
      },
      fd_write(file, at, count, result) {
        let size = 0;
        for (const [address, length] of vectors(at, count)) {
          (file === 1 ? output : said).push(bytes(address, length).slice());
          size += length;
        }
        return put(result, size);
      },
      fd_close: () => 0,
    });
    const { _start } = start();
    const joined = (parts) => {
      const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
      parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
      return whole;
    };
    try {
      _start();
    } catch (error) {
      if (!String(error.message).startsWith("exit 0")) throw new Error(new TextDecoder().decode(joined(said)) || error.message);
    }
    return joined(output);
  };
};
