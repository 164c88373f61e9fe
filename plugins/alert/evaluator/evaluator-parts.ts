import type { Clock, Logger } from 'svc/sdk';

import type { GateInputs } from '../gates/review.ts';
import type { Ledger } from '../incident/ledger.ts';
import type { Plan, RenderAnnotations, Rule, RuleBook } from '../rule.ts';
import type { AlertSeries } from './alert-series.ts';
import type { BackEnd, StoreName } from './back-end.ts';
import type { EvaluatorCounters } from './counters.ts';
import type { Timeline } from './timeline.ts';

export interface EvaluatorParts {
  readonly book: RuleBook;
  readonly planOf: (rule: Rule) => Plan;
  readonly render: RenderAnnotations;
  readonly ledger: Ledger;
  readonly alerts: AlertSeries;
  readonly timeline: Timeline;
  readonly clock: Clock;
  readonly log: Logger;
  readonly backEnds: ReadonlyMap<StoreName, BackEnd>;
  /** How much later than a slot its samples are there. */
  readonly delayOf: (store: StoreName) => number;
  readonly intervalMs: () => number;
  readonly gateInputs: () => GateInputs;
  readonly counters: EvaluatorCounters;
}
