// node run_in_pyodide.mjs PYODIDE REPOSITORY PACKAGES PROGRAM [NAME …]: run a Python program in Pyodide, with both folders on its
// import path, and with these packages of Pyodide. The status is 1 if it raises.
import fs from "fs";
import path from "path";

const [pyodide, repository, packages, program, ...more] = process.argv.slice(2);
const { loadPyodide } = await import(path.join(pyodide, "pyodide.mjs"));
const python = await loadPyodide({ indexURL: pyodide + path.sep });
await python.loadPackage(["ipython", "numpy", "packaging", "pygments", ...more], { messageCallback: () => {} });
for (const [at, root] of [["/repository", repository], ["/packages", packages]]) {
  python.FS.mkdirTree(at);
  python.FS.mount(python.FS.filesystems.NODEFS, { root }, at);
}
python.runPython("import sys; sys.path[:0] = ['/repository', '/repository/tests', '/repository/tests/helpers', '/packages']");
try {
  python.runPython(fs.readFileSync(program, "utf8"));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
