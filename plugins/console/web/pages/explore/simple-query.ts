/** Query that a form can show: one metric, filtered, with at most one function and one grouping. */
export interface SimpleQuery {
  readonly metric: string;
  readonly filters: readonly Filter[];
  /** Function over a window; empty for the values as they are. */
  readonly of: string;
  readonly window: string;
  /** Aggregation over series; empty for each on its own. */
  readonly group: string;
  readonly by: readonly string[];
}

export interface Filter {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

export const operators = ['=', '!=', '=~', '!~'] as const;
export const functions = [
  'rate',
  'increase',
  'avg_over_time',
  'max_over_time',
  'min_over_time',
  'delta',
] as const;
export const groups = ['sum', 'avg', 'max', 'min', 'count'] as const;

export const nothing: SimpleQuery = {
  metric: '',
  filters: [],
  of: '',
  window: '5m',
  group: '',
  by: [],
};

/** Returns the PromQL of a form; filters without a label are not meant yet. */
export function written({ metric, filters, of, window, group, by }: SimpleQuery): string {
  const matchers = filters
    .filter(({ label }) => label !== '')
    .map(({ label, operator, value }) => `${label}${operator}${JSON.stringify(value)}`);
  const selector = `${metric}${matchers.length === 0 ? '' : `{${matchers.join(', ')}}`}`;
  if (selector === '') {
    return '';
  }
  const inner = of === '' ? selector : `${of}(${selector}[${window}])`;
  return group === ''
    ? inner
    : by.length === 0
      ? `${group}(${inner})`
      : `${group} by (${by.join(', ')}) (${inner})`;
}

/** Aggregations and functions are those above. */
const grouped = /^(sum|avg|max|min|count)\s*(?:by\s*\(([^()]*)\)\s*)?\(([^]*)\)\s*$/;
const called =
  /^(rate|increase|avg_over_time|max_over_time|min_over_time|delta)\s*\(([^]*)\[(\d+[smhdw])\]\s*\)$/;
const selected = /^([a-zA-Z_:][\w:]*)?\s*(?:\{([^]*)\})?$/;
const matcher = /\s*([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*("(?:\\[^]|[^"\\])*")\s*(?:,|$)/y;

/** Returns the form of a query; undefined for a query that no form can show. */
export function parsed(query: string): SimpleQuery | undefined {
  const text = query.trim();
  if (text === '') {
    return nothing;
  }
  const [, group = '', by = '', whole = text] = grouped.exec(text) ?? [];
  const [, of = '', ranged = whole, window = nothing.window] = called.exec(whole.trim()) ?? [];
  const [found, metric = '', matchers = ''] = selected.exec(ranged.trim()) ?? [];
  const filters = filtersIn(matchers);
  return found === undefined || found === '' || filters === undefined
    ? undefined
    : { metric, filters, of, window, group, by: by.split(/[\s,]+/).filter(Boolean) };
}

function filtersIn(text: string): readonly Filter[] | undefined {
  const found: Filter[] = [];
  for (let at = 0; at < text.trimEnd().length;) {
    matcher.lastIndex = at;
    const [all, label, operator, value] = matcher.exec(text) ?? [];
    if (all === undefined) {
      return undefined;
    }
    try {
      found.push({ label: label!, operator: operator!, value: JSON.parse(value!) as string });
    } catch {
      // PromQL knows escapes that JSON does not, and the form shows none of those.
      return undefined;
    }
    at += all.length;
  }
  return found;
}
