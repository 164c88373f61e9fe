import { defineService } from 'svc/sdk';

import type { KnowledgeRead as KnowledgeReadContract } from '../knowledge/contract.ts';
import type { LogQueries } from '../logs/contract.ts';
import type {
  AlertingRules as AlertingRulesContract,
  MetricsIngest as MetricsIngestContract,
  MetricsQueries,
} from '../metricsdb/contract.ts';
import type { NoticeDispatcher } from '../notify/contract.ts';

/** Services of other areas, by their ids: their folders may be taken away, and only types are imported from them. */
export const Metrics = defineService<MetricsQueries>('metrics.queries');
export const MetricsIngest = defineService<Pick<MetricsIngestContract, 'write'>>('metrics.ingest');
export const AlertingRules = defineService<AlertingRulesContract>('alert.rules');
export const Logs = defineService<LogQueries>('logs.queries');
export const Channels = defineService<NoticeDispatcher>('notify.dispatcher');
export const KnowledgeRead = defineService<KnowledgeReadContract>('knowledge.read');
