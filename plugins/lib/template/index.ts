import { builtins } from './builtins.ts';
import { errors } from './errors.ts';
import type { TemplateFunction } from './functions.ts';
import { parseTemplate } from './parser.ts';
import { Rendering, type RenderLimits } from './render.ts';

export { errors as templateErrors } from './errors.ts';
export { formatGoFloat } from './float-format.ts';
export { type TemplateFunction, templateFunction } from './functions.ts';
export { sprintf } from './printf.ts';
export { escapeAt, escapedHtml, quote, unquote, unquoteBytes } from './quoting.ts';
export type { RenderLimits } from './render.ts';
export { display, fieldOf, isRecord, isTrue, type Opaque, shownAs, typeName } from './values.ts';

export interface TemplateOptions {
  /** Besides the built-in ones, which they may replace. */
  readonly functions?: ReadonlyMap<string, TemplateFunction>;
  /** Names, without `$`, that every rendering gives a value to. */
  readonly variables?: readonly string[];
  readonly limits?: Partial<RenderLimits>;
}

export interface Template {
  readonly text: string;
  /** Throws invalid_argument with line and column when the data does not fit, or a limit is reached. */
  render(data: unknown, variables?: Readonly<Record<string, unknown>>): string;
  /** The text of a template without actions: it is the same for all data. */
  readonly constant?: string;
}

/** Longer texts are no templates. */
export const longestTemplate = 64 * 1024;
const usual: RenderLimits = { output: 1024 * 1024, steps: 100_000 };

/** Checks the text wholly; throws invalid_argument with line and column. Nothing of the data is ever read as a template. */
export function compileTemplate(text: string, options: TemplateOptions = {}): Template {
  if (text.length > longestTemplate) {
    throw errors.size({ count: text.length, max: longestTemplate });
  }
  const functions: ReadonlyMap<string, TemplateFunction> =
    options.functions === undefined ? builtins : new Map([...builtins, ...options.functions]);
  const names = options.variables ?? [];
  const nodes = parseTemplate(text, functions, names);
  const limits = { ...usual, ...options.limits };
  return {
    text,
    ...(nodes.every((node) => node.kind === 'text') && {
      constant: nodes.map((node) => (node.kind === 'text' ? node.text : '')).join(''),
    }),
    render(data, variables = {}) {
      const given = names.map(
        (name) => [name, Object.hasOwn(variables, name) ? variables[name] : undefined] as const,
      );
      return new Rendering(text, functions, limits, data, given).run(nodes);
    },
  };
}
