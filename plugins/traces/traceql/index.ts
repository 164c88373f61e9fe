/** TraceQL as a whole: text in, answers out, over any source of spans. */
export { parse } from './parser.ts';
export { printQuery } from './print.ts';
export {
  search,
  type MatchedSpan,
  type MatchedSpanset,
  type MatchedTrace,
  type SearchOptions,
  type SearchResult,
} from './search.ts';
export { metrics, type MetricsOptions, type MetricsResult, type MetricsSeries } from './metrics.ts';
export { assertSent } from './series-bound.ts';
export { sightOf, textOf, type Sight } from './enforce.ts';
export { prefilterOf } from './prefilter.ts';
export { queryOfTags, type TagSearch } from './tag-search.ts';
export {
  assertFieldsAlone,
  assertOneFilter,
  assertSpansAlone,
  enforcedQuery,
  withNames,
} from './enforced-query.ts';
