export { askerOf } from './run/asker.ts';
export * from './run/budget.ts';
export * from './byte-text.ts';
export * from './device-names.ts';
export * from './device-scope.ts';
export * from './durations.ts';
export { BadLine } from './exposition/bad-line.ts';
export {
  type ExpositionReading,
  type ExpositionSink,
  type Label,
  readExposition,
  type SaidOfMetric,
} from './exposition/exposition.ts';
export { queryErrors } from './declared-errors.ts';
export * from './json/foreign-json.ts';
export * from './run/gate.ts';
export * from './json/json-bytes.ts';
export * from './labels.ts';
export * from './run/long-lists.ts';
export * from './matcher.ts';
export * from './json/numbers.ts';
export * from './remote/protocol-query.ts';
export * from './run/query-error.ts';
export * from './run/query-runner.ts';
export * from './regex/regex.ts';
export * from './remote/remote-client.ts';
export * from './remote/remote-settings.ts';
export * from './thread-settings.ts';
export * from './zone-format.ts';
