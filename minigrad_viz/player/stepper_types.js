// The types of what the player's files hand to each other; `tsc --checkJs` reads them. No line of this file is joined.

/**
 * @typedef {Record<string, string>} Words the texts of the player, by their keys
 * @typedef {[number, number, number, number]} Span line, column, last line, end in the cell's source
 * @typedef {[string, any, number]} Line of arithmetic: its label, its text or its formula as a tree, and its kind
 * @typedef {string | any[]} Formula a node of the tree of a formula, see `page` in `arithmetic/formula_tree.py`
 */

/**
 * @typedef {object} Frame a step, see score.py
 * @property {string} phase
 * @property {string[]} marks
 * @property {string} label
 * @property {string} text
 * @property {Line[]} lines
 * @property {Span | null} span
 * @property {[number, ...string[]]} ready
 * @property {[string, number][]} waiting
 * @property {boolean} [failed]
 * @property {string} [recursion]
 * @property {Span} [cause]
 * @property {[string, number][]} [shows]
 * @property {number} [main]
 * @property {string} [goal]
 */

/**
 * @typedef {object} Picture what a stage shows
 * @property {string} svg
 * @property {string} prefix
 * @property {number} width
 * @property {string} [outline]
 * @property {[string, string, string][]} [routes]
 * @property {Frame[]} [frames]
 * @property {Record<string, string[]>} [stood]
 * @property {Partial<Picture>[]} [widths]
 */

/**
 * @typedef {Picture & {title: string, ends?: number[]}} Panel what is inside a box, and how many of its steps are over after each step of the whole
 * @typedef {[string, string[]]} Heads
 * @typedef {{id: string, title: string, heads: string[], rows: string[][]}} UpdateTable
 * @typedef {Picture & {narrow?: Partial<Picture>, panels: Record<string, Panel>, modules?: string[][], open?: string[], updates?: UpdateTable[]}} Content
 *   an act as it is laid out
 * @typedef {object} Act one backward call, see score.py; all after `chapters` may be packed
 * @property {string} label
 * @property {string} name
 * @property {number | null} root
 * @property {[string, number][]} chapters
 * @property {boolean} [again]
 * @property {number} [base]
 * @property {number} [row]
 * @property {string} [z]
 * @property {any} [table]
 * @property {[string, string][]} [groups]
 * @property {string} [svg]
 * @property {string} [prefix]
 */

/**
 * @typedef {object} Score what the player plays, see score.py
 * @property {Words} words
 * @property {string} theme
 * @property {string} source
 * @property {number} counted
 * @property {number} total
 * @property {[number, number][]} known
 * @property {boolean} loop
 * @property {number} shown
 * @property {number} step
 * @property {Act[]} acts
 * @property {boolean} [pane]
 * @property {Offers} [offers]
 * @property {any} [quiz]
 * @property {any} [live]
 * @property {any} [learning]
 * @property {any} [training]
 * @typedef {{word: string, how: string, copied: string, ways: [string, string, string][]}} Offers see offers.py
 */

/**
 * @typedef {{ code: string, style: string }} Module the player itself: an expression, and its style sheet
 */

/**
 * @typedef {object} Model of a widget, or what stands for it on a page without a kernel
 * @property {(name: string) => any} get
 * @property {(name: string, value: any) => void} set
 * @property {(event: string, listener: (message: any) => void) => void} on
 * @property {(event: string, listener: (message: any) => void) => void} off
 * @property {() => void} save_changes
 * @property {(message: any) => void} [send]
 */

/**
 * @typedef {HTMLElement & {[name: string]: any}} Made an element of any kind
 */

export {};
