export { Delivery, type MetricParcel, type MetricShipping } from './delivery.ts';
export { type CallOutcome, type After, SlowCalls, type SlowCallsOptions } from './slow-calls.ts';
export { absentCodes, MachineFiles } from './machine-files.ts';
export {
  type LabelPairs,
  MetricBatch,
  type MetricBatchOptions,
  type MetricSink,
  type WriteBody,
} from './metric-batch.ts';
export { snappyBlock } from './snappy-block.ts';
export { canonicalMetrics } from './canonical-metrics.ts';
export { type HostInfo, oneLine, readHostInfo } from './host-info.ts';
export { pageSizeOf } from './page-size.ts';
export { accountsOf } from './accounts.ts';
export type { CommandLines, ReadStart } from './command-lines.ts';
export { plainName } from './plain-name.ts';
export { bootTime, type ListParams, listParams } from './process-list.ts';
export { isKernelThread, isSame, parseProcessStat, type ProcessStat } from './process-stat.ts';
export { ProcessWatch, type ProcessWatchPorts } from './process-watch.ts';
export { redactArguments } from './command-redaction.ts';
export { errors as probeErrors } from './errors.ts';
export { isSecretName, redactText, redactValue } from './redaction.ts';
export { folders, type Glob, matchesPath, type NamePattern, parseGlob } from './glob.ts';
