export { Delivery, type MetricParcel, type MetricShipping } from './delivery.ts';
export { type CallOutcome, type After, SlowCalls, type SlowCallsOptions } from './slow-calls.ts';
export { absentCodes, MachineFiles } from './machine-files.ts';
export { type LabelPairs, MetricBatch, type MetricBatchOptions, type MetricSink, type WriteBody } from './metric-batch.ts';
export { snappyBlock } from './snappy-block.ts';
export { pageSizeOf } from './page-size.ts';
