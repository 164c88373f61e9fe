import type { MetricSink } from 'svc/probe';
import type { MaybePromise } from 'svc/sdk';

import type { Moment } from '../moment/moment.ts';

/** Reads one part of the machine and adds its samples; throwing means that this part could not be read. */
export type Collect = (moment: Moment, sink: MetricSink) => MaybePromise<void>;
