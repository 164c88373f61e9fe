import type { Matcher } from 'svc/query';

const unknown = 0;
const yes = 1;
const no = 2;

interface Condition {
  readonly holdsFor: (text: string) => boolean;
  /** Symbol of the label's name; -1 where nothing has this label. */
  readonly name: number;
  /**
   * Match results by symbol of the value, filled lazily: a pattern runs once per distinct value.
   */
  readonly verdicts: Uint8Array;
  readonly whenAbsent: boolean;
}

/** Matchers against label rows, which are pairs of symbols. */
export class RowMatcher {
  readonly #conditions: readonly Condition[];
  readonly #symbols: readonly string[];
  /** True if nothing can match: a condition requires a label that nothing has. */
  readonly never: boolean;

  constructor(
    symbols: readonly string[],
    symbolOf: (text: string) => number | undefined,
    matchers: readonly Matcher[],
  ) {
    this.#symbols = symbols;
    this.#conditions = matchers.map((matcher) => ({
      holdsFor: remembering(matcher),
      name: symbolOf(matcher.name) ?? -1,
      verdicts: new Uint8Array(symbols.length),
      whenAbsent: matcher.matches(''),
    }));
    this.never = this.#conditions.some(({ name, whenAbsent }) => name === -1 && !whenAbsent);
  }

  matches(pairs: Uint32Array, from: number, to: number): boolean {
    for (let i = 0; i < this.#conditions.length; i++) {
      if (!this.#holds(this.#conditions[i]!, pairs, from, to)) {
        return false;
      }
    }
    return true;
  }

  #holds(
    { holdsFor, name, verdicts, whenAbsent }: Condition,
    pairs: Uint32Array,
    from: number,
    to: number,
  ): boolean {
    for (let i = from; i < to; i += 2) {
      if (pairs[i] === name) {
        const value = pairs[i + 1]!;
        if (verdicts[value] === unknown) {
          verdicts[value] = holdsFor(this.#symbols[value]!) ? yes : no;
        }
        return verdicts[value] === yes;
      }
    }
    return whenAbsent;
  }
}

/**
 * Match results of texts, kept as long as the pattern: dashboards repeat their queries, which are
 * kept parsed.
 */
const remembered = new WeakMap<Matcher, Map<string, boolean>>();
const maxRemembered = 16_384;

function remembering(matcher: Matcher): (text: string) => boolean {
  if (matcher.pattern === undefined) {
    return matcher.matches;
  }
  const verdicts = remembered.get(matcher) ?? new Map<string, boolean>();
  remembered.set(matcher, verdicts);
  return (text) => {
    let verdict = verdicts.get(text);
    if (verdict === undefined) {
      verdict = matcher.matches(text);
      if (verdicts.size >= maxRemembered) {
        verdicts.clear();
      }
      verdicts.set(text, verdict);
    }
    return verdict;
  };
}
