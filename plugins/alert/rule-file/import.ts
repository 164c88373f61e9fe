import { isSvcError, messageOf, type SvcError } from 'svc/sdk';

import { assertWorks, type RuleDependencies } from '../authoring/rule-check.ts';
import { bodyOf } from '../authoring/rule-draft.ts';
import type { ChangeCall, Rules } from '../authoring/rules.ts';
import { faultOf } from '../recording/recording.ts';
import type { NewRecording } from '../recording/recording-store.ts';
import type { Recordings } from '../recording/recordings.ts';
import type { RuleBody } from '../rule/rule-tables.ts';
import { errors } from './errors.ts';
import {
  type Candidate,
  type Candidates,
  type ImportReport,
  type ImportRequest,
} from './import-candidates.ts';

type LeftOut = ImportReport['left_out'][number];

export interface RuleImporterParts {
  /** Reads the file of a request. */
  readonly candidates: (request: ImportRequest) => Promise<Candidates>;
  readonly rules: Rules;
  readonly recordings: Pick<Recordings, 'put' | 'groups'>;
  readonly dependencies: RuleDependencies;
  readonly findByKey: (
    ruleKey: string,
  ) => Promise<{ readonly id: number; readonly source_type: RuleBody['source_type'] } | undefined>;
}

const maxRules = 5_000;

/** Imports what a Prometheus rule file says, alerts and recordings, and reports what of it has no counterpart here. */
export class RuleImporter {
  readonly #parts: RuleImporterParts;

  constructor(parts: RuleImporterParts) {
    this.#parts = parts;
  }

  async importFile(call: ChangeCall, request: ImportRequest): Promise<ImportReport> {
    const { alerts, recordings, invalid: unwritable } = await this.#parts.candidates(request);
    if (alerts.length > maxRules) {
      throw errors.file_too_long({ count: alerts.length, max: maxRules });
    }
    const records = await this.#checkRecordings(recordings, request.overwrite ?? false);
    const { fit, invalid, taken } = await this.#check(alerts, request);
    const unusable = [...unwritable, ...invalid, ...records.invalid];
    if (unusable.length > 0 && (request.strict ?? true)) {
      throw refusalOf(unusable);
    }
    const bodies = fit.map(({ body }) => body);
    const dryRun = request.dry_run ?? false;
    const stored = dryRun ? [] : await this.#parts.rules.putAll(call, bodies);
    if (!dryRun && records.fit.length > 0) {
      await this.#parts.recordings.put(call, records.fit);
    }
    const ids = new Map(stored.map(({ rule_key: key, id }) => [key, id]));
    return {
      dry_run: dryRun,
      taken: fit.map(({ candidate: { group, alert, notes }, body }) => ({
        group,
        alert,
        rule_key: body.rule_key,
        id: ids.get(body.rule_key) ?? null,
        notes: [...notes],
      })),
      recorded: records.fit.map(({ group, record }) => ({ group, record })),
      left_out: [...unusable, ...taken, ...records.taken],
    };
  }

  async #check(candidates: readonly Candidate[], request: ImportRequest): Promise<Checked> {
    const checked: { readonly [K in keyof Checked]: Checked[K][number][] } = {
      fit: [],
      invalid: [],
      taken: [],
    };
    for (const candidate of candidates) {
      try {
        const body = bodyOf(candidate.draft);
        await assertWorks(body, this.#parts.dependencies);
        await this.#assertFree(body.rule_key, request.overwrite ?? false);
        checked.fit.push({
          candidate,
          body:
            request.dimensions === undefined
              ? { ...body, dimensions: await this.#groupKey(body) }
              : body,
        });
      } catch (error) {
        // A store that does not answer says nothing about the file.
        if (!isSvcError(error) || !['invalid_argument', 'conflict'].includes(error.code)) {
          throw error;
        }
        checked[error.code === 'conflict' ? 'taken' : 'invalid'].push({
          group: candidate.group,
          rule: candidate.alert,
          reason: messageOf(error),
        });
      }
    }
    return checked;
  }

  /** Groups are stored whole: they are evaluated in their order. */
  async #checkRecordings(recordings: readonly NewRecording[], overwrite: boolean) {
    const known =
      recordings.length === 0 || overwrite
        ? new Set<string>()
        : await this.#parts.recordings.groups();
    const checked: { fit: NewRecording[]; invalid: LeftOut[]; taken: LeftOut[] } = {
      fit: [],
      invalid: [],
      taken: [],
    };
    for (const recording of recordings) {
      const { group, record, expr } = recording;
      const fault = await faultOf(expr, this.#parts.dependencies.metrics);
      if (fault !== undefined) {
        checked.invalid.push({ group, rule: record, reason: `expr: ${fault}` });
      } else if (known.has(group)) {
        checked.taken.push({
          group,
          rule: record,
          reason: 'its group was imported before; set overwrite to replace it',
        });
      } else {
        checked.fit.push(recording);
      }
    }
    return checked;
  }

  /** The labels that the expression groups by tell its incidents apart; where it groups by none, one incident holds all instances. */
  async #groupKey({ conditions, scope_type: scope }: RuleBody): Promise<readonly string[]> {
    const { grouping = [] } = await this.#parts.dependencies.metrics
      .get()
      .check(String(conditions[0]!['expr']));
    const labels = grouping.filter((label) => label !== scopeLabels[scope] && label.length <= 100);
    return labels.length <= maxDimensions ? labels : [];
  }

  async #assertFree(key: string, overwrite: boolean): Promise<void> {
    const found = await this.#parts.findByKey(key);
    if (found === undefined || (overwrite && found.source_type === 'metricsdb_external')) {
      return;
    }
    const advice =
      found.source_type === 'metricsdb_external'
        ? 'was imported before; set overwrite to replace it'
        : 'exists already, and was not imported; choose a key_prefix';
    throw errors.rule_taken({ key, advice });
  }
}

/** Labels that the scope of a rule stands for. */
const scopeLabels: Readonly<Record<RuleBody['scope_type'], string>> = {
  host: 'device_id',
  global: '',
  monitoring_pipeline: 'pipeline',
};
const maxDimensions = 10;

interface Checked {
  readonly fit: readonly Fit[];
  /** Rules that could never work, and below, those that exist already. */
  readonly invalid: readonly LeftOut[];
  readonly taken: readonly LeftOut[];
}

const maxNamed = 20;

/** Returns the error for a file with an invalid rule; like promtool, the whole file is refused. */
function refusalOf(invalid: readonly LeftOut[]): SvcError {
  const [{ group, rule, reason }] = invalid as [LeftOut];
  const more = invalid.length > 1 ? `, and ${invalid.length - 1} more` : '';
  const details = invalid
    .slice(0, maxNamed)
    .map((one) => ({ path: `/groups/${one.group}/${one.rule}`, message: one.reason }));
  return errors.file_rule({ group, rule, reason, more }, { details });
}

interface Fit {
  readonly candidate: Candidate;
  readonly body: RuleBody;
}
