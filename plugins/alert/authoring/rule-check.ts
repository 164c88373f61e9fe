import type { KnowledgeRead } from 'svc/contracts/knowledge';
import type { LogQueries } from 'svc/contracts/logs';
import type { MetricsQueries } from 'svc/contracts/metricsdb';
import type { NoticeDispatcher } from 'svc/contracts/notify';
import { type Handle, isSvcError, messageOf, type Principal } from 'svc/sdk';

import type { Condition, QueryText } from '../kinds/kind.ts';
import { kinds } from '../kinds/kinds.ts';
import { planOf, usualIntervalMs } from '../kinds/rule-plan.ts';
import { wrongField } from '../rule/condition-fields.ts';
import { playbookOf, stepsOf } from '../rule/playbook.ts';
import type { RuleBody } from '../rule/rule-tables.ts';
import { hasComputedSeverity } from '../rule/severity.ts';
import { errors } from './errors.ts';

/** Services that know whether what a rule names exists. */
export interface RuleDependencies {
  readonly metrics: Handle<MetricsQueries>;
  readonly logs: Handle<LogQueries>;
  readonly channels: Handle<NoticeDispatcher>;
  readonly knowledge: Handle<KnowledgeRead>;
}

/** Asks the engines about every expression and the notifier about every channel; throws invalid_argument for what does not hold. */
export async function assertWorks(
  rule: RuleBody,
  { metrics, logs, channels }: RuleDependencies,
): Promise<void> {
  for (const [index, condition] of rule.conditions.entries()) {
    for (const query of kinds[rule.kind].queryTexts(condition as Condition)) {
      await assertQuery(query, `/conditions/${index}/${query.field}`, { metrics, logs });
    }
  }
  // What is built around the texts must be valid too, such as a sum over a metric that was given as
  // a call.
  for (const [index, { store, query }] of planOf(rule, usualIntervalMs).legs.entries()) {
    await assertQuery(
      { field: '', text: query, language: store === 'logs' ? 'logql' : 'promql', wants: 'number' },
      `/conditions/${index}`,
      {
        metrics,
        logs,
      },
    );
  }
  await assertChannels(rule, channels);
}

async function assertQuery(
  { text, language, wants }: QueryText,
  path: string,
  { metrics, logs }: Pick<RuleDependencies, 'metrics' | 'logs'>,
): Promise<void> {
  const type = await typeOf(text, language, path, { metrics, logs });
  const fits = wants === 'number' ? type === 'vector' || type === 'scalar' : type === wants;
  if (!fits) {
    throw wrongField(
      path,
      `answers ${described[type] ?? type}, and the condition needs ${described[wants]}`,
    );
  }
}

const described: Readonly<Record<string, string>> = {
  lines: 'log lines',
  vector: 'an instant vector',
  number: 'numbers (an instant vector)',
  scalar: 'a scalar',
  matrix: 'a range of samples',
  string: 'a text',
};

async function typeOf(
  text: string,
  language: QueryText['language'],
  path: string,
  { metrics, logs }: Pick<RuleDependencies, 'metrics' | 'logs'>,
): Promise<string> {
  const engine = language === 'promql' ? metrics : logs;
  if (!engine.available) {
    throw errors.no_store_to_check({ store: language === 'promql' ? 'metrics' : 'log' });
  }
  try {
    return (await engine.get().check(text)).type;
  } catch (error) {
    throw isSvcError(error) && error.code === 'invalid_argument'
      ? wrongField(path, messageOf(error), error)
      : error;
  }
}

/** Throws unless every channel that the rule pins exists and takes its notifications. */
async function assertChannels(rule: RuleBody, channels: Handle<NoticeDispatcher>): Promise<void> {
  const { notify_channel_ids: ids, severity, scope_type: scope } = rule;
  if (ids.length === 0 || !channels.available) {
    return;
  }
  const unknown = await channels.get().unknown(ids);
  if (unknown.length > 0) {
    throw wrongField(
      '/notify_channel_ids',
      `there ${unknown.length === 1 ? 'is no channel' : 'are no channels'} ${unknown.join(', ')}`,
    );
  }
  // Which severity a computed one will be is known only when it fires.
  const refusing = await channels.get().refusing(ids, {
    scope_type: scope,
    ...(!hasComputedSeverity(rule) && { severity }),
  });
  // One that is disabled may be enabled again tomorrow; until then runtime-info warns of it.
  const lasting = refusing.find(({ disabled }) => !disabled);
  if (lasting !== undefined) {
    const { name, reason } = lasting;
    throw wrongField(
      '/notify_channel_ids',
      `the channel ${name} would refuse every notification of this rule (severity ${severity}, scope ${scope}): ${reason}; change its filter, or pin another channel`,
    );
  }
}

/**
 * Throws unless the runbook can be opened: a playbook must be one that its author may read, where
 * the plugin that keeps playbooks runs.
 */
export async function assertRunbook(
  { runbook_url: url }: Pick<RuleBody, 'runbook_url'>,
  by: Principal,
  { knowledge }: Pick<RuleDependencies, 'knowledge'>,
): Promise<void> {
  const playbook = playbookOf(url);
  if (playbook === undefined || stepsOf(url).length > 0 || !knowledge.available) {
    return;
  }
  if ((await knowledge.get().read(url, by)) === undefined) {
    throw wrongField(
      '/runbook_url',
      `there is no playbook ${playbook}; write that document first, or use one that svc knowledge list shows`,
    );
  }
}
