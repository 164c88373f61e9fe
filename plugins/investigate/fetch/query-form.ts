import type { SliKind, Unit } from 'svc/rca';

/** Meaning of a query, as far as its form gives it away. */
export interface QueryForm {
  readonly kind?: SliKind;
  readonly unit?: Unit;
  /** Factor that turns its values into the unit. */
  readonly factor?: number;
}

const strings = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/g;
/** Matchers that select what failed, as services, proxies and tracers write them. */
const failing: readonly RegExp[] = [
  /\b\w*(?:code|status)\w*\s*=~?\s*["'`]\^?\(?(?:4\.\.\|)?(?:5|STATUS_CODE_ERROR|[Ee]rror|ERROR|fail)/,
  /\bgrpc_code\s*(?:=~?\s*["'`][A-NP-Z]|!=\s*["'`]OK|!~\s*["'`]\^?\(?OK)/,
  /\b\w*(?:code|status)\w*\s*!~\s*["'`]\^?\(?[123]/,
  /\b\w*grpc_status(?:_code)?\s*=~?\s*["'`]\(?(?:2|4|8|10|12|13|14|15)\b/,
  /\boutcome\s*(?:=~?\s*["'`](?:SERVER_ERROR|error|fail)|!~?=?\s*["'`](?:SUCCESS|success))/,
  /\b(?:errors?|failed)\s*=\s*["'`](?:true|1)/,
  /\bsuccess\s*=\s*["'`](?:false|0)/,
  /\b(?:exception|error_type)\s*(?:!=|!~|=~)\s*["'`]/,
];

const selectsFailed = (query: string): boolean => failing.some((form) => form.test(query));
const failedName = /(?:^|[^a-z])(?:errors?|failed|failures?|exceptions?|5xx)(?:[^a-z]|$)/i;
const milliseconds = /_(?:milliseconds|millis|ms)(?:_|\b)/;

/**
 * Returns the meaning of a query by what it computes: a share of failures, a quantile, a mean
 * duration. Names are no part of it; a name says `duration` where a query counts requests.
 */
export function formOf(query: string): QueryForm {
  const bare = query.replaceAll(strings, '""');
  const words = bare.replaceAll(/\{[^}]*\}/g, ' ');
  const parts = quotientOf(query);
  const inMilliseconds =
    milliseconds.test(words) !== /\*\s*1000(?!\d)|(?<!\d)1000\s*\*/.test(words);
  const time = inMilliseconds ? { factor: 0.001 } : {};
  if (/\bhistogram_quantile\s*\(/.test(words) || /\bquantile\s*=~?\s*""/.test(bare)) {
    return { kind: 'latency', unit: 'seconds', ...time };
  }
  if (parts !== undefined && /_sum\b/.test(parts[0]) && /_count\b/.test(parts[1])) {
    return { kind: 'latency', unit: 'seconds', ...time };
  }
  if (parts !== undefined && isShareOfFailures(parts)) {
    const percent = /(?:^|[^\d.])100\s*\*|\*\s*100(?!\d)/.test(words);
    return { kind: 'error_ratio', unit: percent ? 'percent' : 'ratio' };
  }
  const counts = /\b(?:rate|irate|increase|delta|count_over_time|bytes_over_time)\s*\(/.test(words);
  if (counts && parts === undefined && (selectsFailed(query) || failedName.test(words))) {
    return { kind: 'errors', unit: 'per_second' };
  }
  if (/\bcount_over_time\s*\(/.test(words)) {
    return { unit: 'count' };
  }
  if (counts && parts === undefined) {
    return { unit: 'per_second' };
  }
  return {};
}

const isShareOfFailures = ([above, below]: readonly [string, string]): boolean =>
  (selectsFailed(above) || failedName.test(above.replaceAll(strings, '""'))) &&
  !selectsFailed(below);

/** Returns what is divided by what at the outermost level; undefined where nothing is. */
function quotientOf(query: string): readonly [above: string, below: string] | undefined {
  let text = query.trim();
  for (let inner = unwrapped(text); inner !== undefined; inner = unwrapped(text)) {
    text = inner;
  }
  const at = dividerOf(text);
  return at === undefined ? undefined : [text.slice(0, at), text.slice(at + 1)];
}

function unwrapped(text: string): string | undefined {
  const [, inside] =
    /^(?:\d+(?:\.\d+)?\s*\*\s*)?\(([\s\S]*)\)(?:\s*\*\s*\d+(?:\.\d+)?)?$/.exec(text) ?? [];
  return inside !== undefined && isBalanced(inside) ? inside.trim() : undefined;
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const sign of text.replaceAll(strings, '')) {
    depth += sign === '(' ? 1 : sign === ')' ? -1 : 0;
    if (depth < 0) {
      return false;
    }
  }
  return depth === 0;
}

function dividerOf(text: string): number | undefined {
  let depth = 0;
  // Same length, so that positions stay.
  const masked = text.replaceAll(strings, (quoted) => '_'.repeat(quoted.length));
  for (let at = 0; at < masked.length; at += 1) {
    const sign = masked[at]!;
    depth += '({['.includes(sign) ? 1 : ')}]'.includes(sign) ? -1 : 0;
    if (sign === '/' && depth === 0) {
      return at;
    }
  }
  return undefined;
}
