import type { Sample } from '../queries/sample.ts';
import type { TemplateQuery } from './functions.ts';

/** Asks the store; rejects where it does not answer. */
export type AskForTemplate = (expr: string) => Promise<readonly Sample[]>;

/** Expressions of one evaluation. */
const maxAsked = 100;

/**
 * Cache of what templates have asked a store. They render synchronously, so they are rendered again
 * once more is known.
 */
export class TemplateAnswers {
  readonly #known = new Map<string, readonly Sample[] | Error>();

  /** Answers from the cache. */
  readonly query: TemplateQuery = (expr) => {
    const found = this.#known.get(expr);
    if (found === undefined) {
      throw new Error(`${expr.slice(0, 60)} was not queried`);
    }
    if (found instanceof Error) {
      throw found;
    }
    return found;
  };

  /** Renders until all that is asked on the way is known; answers what the last rendering made. */
  async rendered<T>(render: (query: TemplateQuery) => T, ask: AskForTemplate): Promise<T> {
    for (;;) {
      const missing = new Set<string>();
      const made = render((expr) => {
        if (!this.#known.has(expr)) {
          missing.add(expr);
        }
        return this.query(expr);
      });
      if (missing.size === 0 || this.#known.size + missing.size > maxAsked) {
        return made;
      }
      for (const expr of missing) {
        this.#known.set(
          expr,
          await ask(expr).catch((error: unknown) =>
            error instanceof Error ? error : new Error(String(error)),
          ),
        );
      }
    }
  }
}

/** Returns whether templates may query at all: most do not, and are rendered once. */
export const mayAsk = (annotations: Readonly<Record<string, string>>): boolean =>
  Object.values(annotations).some((text) => /\{\{[^]*\bquery\b/.test(text));
