// Tables of texts (see texts.py): the variants of one thing, which differ in their numbers.

const PIECE = /<g class=["']heat["']>.*?<\/g>|<[^>]*>|[^<]+/g; // of SVG, as in texts.py: a map, a tag, or a text

export class Texts {
  constructor({ columns, texts }) {
    this.columns = columns.map((column) => column.split(" "));
    this.texts = texts;
  }

  // A text of the `i`th variant, from its parts and columns.
  text(parts, i) {
    if (typeof parts === "string") return parts;
    if (parts.forms) return this.text(parts.forms[parts.at[i]], i);
    return parts.map((part) => (typeof part === "number" ? this.columns[part][i] : part)).join("");
  }

  // The `i`th variant, from one that is whole.
  variant(whole, i, different = this.texts) {
    if (Array.isArray(different) || different.forms) return this.text(different, i);
    if (different.values) return different.values[different.at[i]];
    if (typeof whole === "string") return this.variant(whole.match(PIECE), i, different).join("");
    const made = Array.isArray(whole) ? [...whole] : { ...whole };
    for (const [key, part] of Object.entries(different)) made[key] = this.variant(whole[key], i, part);
    return made;
  }
}
