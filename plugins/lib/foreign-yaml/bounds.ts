import { CST, Lexer } from 'yaml';

export interface YamlBounds {
  /** Max lexemes, where each line of a scalar counts as one; default 600,000. A short text of many would take a gigabyte. */
  readonly lexemes?: number;
  /** Max depth, where a pair and the collection around it count as one level each; default 128. */
  readonly depth?: number;
}

/** Lexemes that only state what the text is, and take no place in it. */
const marks: readonly string[] = [CST.BOM, CST.DOCUMENT, CST.FLOW_END, CST.SCALAR];

/** Throws a RangeError if a parser could not take the text; nothing is built, and no call recurses. */
export function assertBounded(
  text: string,
  { lexemes = 600_000, depth = 128 }: YamlBounds = {},
): void {
  const nesting = new Nesting();
  let count = 0;
  let isText = false;
  for (const lexeme of new Lexer().lex(text)) {
    count += isText ? 1 + linesIn(lexeme, lexemes - count) : 1;
    if (count > lexemes) {
      throw new RangeError(
        `has more than ${lexemes.toLocaleString('en')} YAML tokens and lines; split it`,
      );
    }
    // After its mark comes the text of a scalar, which may begin with any sign.
    nesting.read(lexeme, isText ? 'scalar' : CST.tokenType(lexeme));
    isText = lexeme === CST.SCALAR;
    if (nesting.depth > depth) {
      throw new RangeError(`is nested more than ${depth} levels deep`);
    }
  }
}

/** Counts the line ends of a text, up to one more than `max`. */
function linesIn(text: string, max: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && count <= max; at = text.indexOf('\n', at + 1)) {
    count += 1;
  }
  return count;
}

/** Levels that are open at one place of a text. */
class Nesting {
  /** Columns of block collections, each further right than the one before. */
  #blocks: number[] = [];
  /** Pairs that are open in each flow collection. */
  #flows: number[] = [];
  #pairs = 0;
  #column = 0;
  /** Column where a key may have begun. */
  #keyAt: number | undefined;

  get depth(): number {
    return this.#blocks.length + this.#flows.length + this.#pairs;
  }

  read(lexeme: string, type: CST.TokenType | null): void {
    this.#open(type);
    if (type === 'seq-item-ind' || type === 'explicit-key-ind' || type === 'map-value-ind') {
      this.#keyAt = undefined;
    } else if (type !== 'space' && type !== 'newline') {
      this.#keyAt ??= this.#column;
    }
    const lineEnd = lexeme.lastIndexOf('\n');
    if (lineEnd !== -1) {
      this.#column = lexeme.length - lineEnd - 1;
      this.#keyAt = undefined;
    } else if (type === 'scalar' || !marks.includes(lexeme)) {
      this.#column += lexeme.length;
    }
  }

  #open(type: CST.TokenType | null): void {
    switch (type) {
      case 'flow-seq-start':
      case 'flow-map-start':
        this.#flows.push(0);
        break;
      case 'flow-seq-end':
      case 'flow-map-end':
        this.#pairs -= this.#flows.pop() ?? 0;
        break;
      case 'comma':
        this.#pairs -= this.#flows.at(-1) ?? 0;
        this.#flows.splice(-1, 1, ...(this.#flows.length > 0 ? [0] : []));
        break;
      case 'flow-error-end':
        this.#flows = [];
        this.#pairs = 0;
        break;
      case 'doc-start':
      case 'doc-end':
      case 'doc-mode':
        this.#blocks = [];
        break;
      case 'seq-item-ind':
      case 'explicit-key-ind':
        this.#indicator(this.#column);
        break;
      case 'map-value-ind':
        this.#indicator(this.#keyAt ?? this.#column);
        break;
      default:
    }
  }

  /** Opens a pair of a flow collection, or the block collection at a column, which ends those further right. */
  #indicator(column: number): void {
    const flow = this.#flows.length - 1;
    if (flow >= 0) {
      this.#flows[flow]! += 1;
      this.#pairs += 1;
      return;
    }
    while ((this.#blocks.at(-1) ?? -1) > column) {
      this.#blocks.pop();
    }
    if (this.#blocks.at(-1) !== column) {
      this.#blocks.push(column);
    }
  }
}
