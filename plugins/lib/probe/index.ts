export { Delivery, type MetricParcel, type MetricShipping } from './delivery.ts';
export {
  type CallOutcome,
  type After,
  SlowCalls,
  type SlowCallsOptions,
} from './machine/slow-calls.ts';
export { absentCodes, MachineFiles } from './machine/machine-files.ts';
export {
  type LabelPairs,
  MetricBatch,
  type MetricBatchOptions,
  type MetricSink,
  type WriteBody,
} from './metric-batch.ts';
export { snappyBlock } from './snappy-block.ts';
export { pageSizeOf } from './machine/page-size.ts';
export { accountsOf, userOf } from './processes/accounts.ts';
export type { CommandLines, ReadStart } from './processes/command-lines.ts';
export { plainName } from './processes/plain-name.ts';
export { bootTime, type ListParams, listParams } from './processes/process-list.ts';
export {
  isKernelThread,
  isSame,
  parseProcessStat,
  type ProcessStat,
} from './processes/process-stat.ts';
export { cpuPercent, type Scan } from './processes/process-table.ts';
export { ProcessWatch, type ProcessWatchPorts } from './processes/process-watch.ts';
export { redactArguments, redactCommandsIn } from './redaction/command-redaction.ts';
export { errors as probeErrors } from './processes/errors.ts';
export { isSecretName, redactText, redactValue } from './redaction/redaction.ts';
export { folders, type Glob, matchesPath, type NamePattern, parseGlob } from './glob.ts';
