// What a typed answer is worth, as `predicting/question.py` says it in Python: no kernel is needed to predict.

const DIGITS = 0.5e-2; // how far a number may be off: three digits
const LARGEST = 100; // of an exponent
const TYPED = { "−": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", "^": "**", "²": "**2", "³": "**3" };
const FUNCTIONS = { sqrt: Math.sqrt, exp: Math.exp, log: Math.log, ln: Math.log, sin: Math.sin, cos: Math.cos, tan: Math.tan, tanh: Math.tanh, abs: Math.abs };
const HOLDERS = ["tensor", "Tensor", "Size", "array", "list", "tuple", "set"];
const INCLUDED = ["quiz_leaves_result", "quiz_gets_result", "quiz_gets_quiet", "quiz_gets_cut"]; // names that are wrongly among those given
const CONSTANTS = { pi: Math.PI, inf: Infinity, nan: NaN, None: null };

const plain = (text) => text.trim().replace(/[−×·⋅÷^²³]/g, (sign) => TYPED[sign]);

// A text as numbers, nested lists of these, null or a name; an error for anything else.
export function read(text) {
  const written = plain(text);
  if (written.toLowerCase() === "none") return null;
  try {
    return expressed(written);
  } catch {
    return expressed(written.replace(/([\d.\]])\s+(?=[-\d.[])/g, "$1, ")); // `[1. 2.]`, as tensors are printed
  }
}

function expressed(text) {
  const tokens = text.match(/\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|[\p{L}_][\p{L}\p{N}_.]*|\*\*|\S/giu) ?? [];
  let at = 0;
  const take = (...some) => (some.includes(tokens[at]) ? tokens[at++] : undefined);
  const number = (value) => {
    if (typeof value !== "number") throw new Error("a number is missing");
    return value;
  };
  const items = (end) => {
    const found = [];
    let comma;
    while (tokens[at] !== end) {
      found.push(sum());
      comma = take(",");
      if (!comma) break;
    }
    if (!take(end)) throw new Error(`${end} is missing`);
    return { found, list: comma || found.length !== 1 };
  };
  // The arguments of a call, without those that have names: of `tensor(1.6, requires_grad=True)` the number alone.
  const given = () => {
    const found = [];
    while (tokens[at] !== ")") {
      if (tokens[at + 1] === "=") while (at < tokens.length && ![",", ")"].includes(tokens[at])) at++;
      else found.push(sum());
      if (!take(",")) break;
    }
    if (!take(")")) throw new Error(") is missing");
    return found;
  };
  const atom = () => {
    const token = tokens[at++];
    if (token === "[") return items("]").found;
    if (token === "{") return items("}").found;
    if (token === "(") {
      const { found, list } = items(")");
      return list ? found : found[0];
    }
    if (/^[\d.]*\d/.test(token ?? "")) return Number(token);
    if (!/^[\p{L}_]/u.test(token ?? "")) throw new Error("a number is missing");
    const name = token.split(".").at(-1);
    if (tokens[at] !== "(") {
      if (token.includes(".")) throw new Error("a name has no dots");
      return token in CONSTANTS ? CONSTANTS[token] : token;
    }
    at++;
    const found = given();
    if (found.length === 1 && HOLDERS.includes(name)) return found[0];
    if (found.length === 1 && name in FUNCTIONS) return FUNCTIONS[name](number(found[0]));
    throw new Error("this is no function");
  };
  const power = () => {
    const base = atom();
    if (!take("**")) return base;
    const exponent = number(signed());
    if (Math.abs(exponent) > LARGEST) throw new Error("the exponent is too large");
    return number(base) ** exponent;
  };
  const negative = (value) => (Array.isArray(value) ? undefined : -number(value));
  const signed = () => (take("-") ? negative(signed()) : take("+") ? number(signed()) : power());
  const both = (next, signs) => {
    let value = next();
    for (let sign = take(...signs); sign; sign = take(...signs)) {
      const other = number(next());
      if (sign === "/" && other === 0) throw new Error("division by zero");
      value = { "+": number(value) + other, "-": value - other, "*": value * other, "/": value / other }[sign];
    }
    return value;
  };
  const product = () => both(signed, ["*", "/"]);
  const sum = () => both(product, ["+", "-"]);
  let value = sum();
  if (tokens[at] === ",") {
    value = [value];
    while (take(",")) if (at < tokens.length) value.push(sum());
  }
  if (at < tokens.length || value === undefined) throw new Error("this cannot be read");
  return value;
}

const shape = (value) => (Array.isArray(value) ? [value.length, ...(value.length ? shape(value[0]) : [])] : []);

// Whether an answer is a truth, as a person rounds.
export function equal(mine, truth, written = "") {
  if (mine === null || truth === null) return mine === truth;
  const [a, b] = [[mine].flat(Infinity), [truth].flat(Infinity)];
  const alone = !Array.isArray(mine) && b.length === 1; // of a tensor with one element the number alone will do
  if ((!alone && `${shape(mine)}` !== `${shape(truth)}`) || a.length !== b.length || a.some((one) => typeof one !== "number")) return false;
  const noise = 1e-9 + 1e-6 * Math.max(0, ...b.map(Math.abs));
  if (a.every((one, i) => Math.abs(one - b[i]) <= DIGITS * Math.abs(b[i]) + noise)) return true;
  const digits = plain(written).replace(/^[-+]+/, "");
  if (shape(mine).length || !/^\d*\.?\d*$/.test(digits) || digits.replace(".", "").replace(/^0+/, "").length < 2) return false;
  return Math.abs(Number(b[0].toFixed((digits.split(".")[1] ?? "").length)) - mine) < 1e-12;
}

function sizes(text) {
  const times = /^\s*\(?\s*(\d+(?:\s*[x×*]\s*\d+)+)\s*\)?\s*$/.exec(text);
  const found = times ? times[1].match(/\d+/g).map(Number) : [read(text)].flat();
  if (!found.every(Number.isInteger)) throw new Error("a shape has whole numbers");
  return found;
}

function yes(text, { yes: agree, no: deny }) {
  const word = text.trim().replace(/[.!]+$/, "").toLowerCase();
  if (deny.includes(word) || /^(no[ ,]|아니)/.test(word)) return false;
  if (agree.includes(word) || /error$|^(yes|예|네)/.test(word)) return true;
  throw new Error("neither yes nor no");
}

// The names under which a node may be known, of `LogBackward(a)`.
function named(called) {
  const [node, ...at] = called.toLowerCase().split("(");
  return [node, node.replace(/\d+$/, ""), at.join("(").replace(/\)$/, "")];
}

function node(text, truth, choices) {
  const given = text.replaceAll(" ", "").toLowerCase();
  return [truth.toLowerCase(), ...named(truth)].some((wanted, i) => {
    const alike = choices.filter((one) => [one.toLowerCase(), ...named(one)].includes(wanted));
    return given === wanted.replaceAll(" ", "") && (i === 0 || alike.length <= 1);
  });
}

// `typed` as data of the kind that was asked for.
function understood({ kind, words }, typed) {
  if (kind === "shape") return sizes(typed);
  if (kind === "raises") return yes(typed, words);
  if (kind === "leaves") return typed.replace(/\b(?:and|none)\b|(?:와|과)(?=\s)|\.(?![\p{L}\p{N}_])|[\s,;{}()[\]'"]+/gu, " ").split(" ").filter(Boolean).sort();
  if (kind === "next") return typed.trim();
  const given = read(typed);
  if (given !== null && [given].flat(Infinity).some((one) => typeof one !== "number")) throw new Error("this is no number");
  return given;
}

// Whether it is the right answer, and if not, which wrong ones it is.
export function judge(question, typed) {
  let given;
  try {
    given = understood(question, typed);
  } catch {
    return { unread: true, right: false, wrong: [] };
  }
  const { kind, truth, wrong, choices } = question;
  const fits = (one) => (kind === "next" ? node(given, one, choices) : kind === "grad" ? equal(given, one, typed) : `${given}` === `${one}`);
  const explains = (one) => (kind === "leaves" ? given.includes(one.answer[0]) === INCLUDED.includes(one.key) : fits(one.answer));
  if (fits(truth)) return { right: true, wrong: [] };
  const found = wrong.filter(explains);
  return { right: false, wrong: found.filter(({ key }, i) => found.findIndex((one) => one.key === key) === i) };
}
