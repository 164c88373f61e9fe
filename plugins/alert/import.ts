import { isSvcError, messageOf, SvcError } from 'svc/sdk';

import { type Candidate, candidatesOf, type ImportReport, type ImportRequest } from './import-candidates.ts';
import { readRuleFile } from './prometheus-file.ts';
import { assertWorks, type RuleDependencies } from './rule-check.ts';
import { bodyOf } from './rule-draft.ts';
import type { RuleBody } from './rule-tables.ts';
import type { ChangeCall, Rules } from './rules.ts';

type LeftOut = ImportReport['left_out'][number];

export interface RuleImporterParts {
  readonly rules: Rules;
  readonly dependencies: RuleDependencies;
  readonly findByKey: (ruleKey: string) => Promise<{ readonly id: number; readonly source_type: RuleBody['source_type'] } | undefined>;
}

const mostRules = 1_000;

/** Imports what a Prometheus rule file says, and reports what of it has no counterpart here. */
export class RuleImporter {
  readonly #parts: RuleImporterParts;

  constructor(parts: RuleImporterParts) {
    this.#parts = parts;
  }

  async importFile(call: ChangeCall, request: ImportRequest): Promise<ImportReport> {
    const { candidates, leftOut } = candidatesOf(readRuleFile(request.content), request);
    if (candidates.length > mostRules) {
      throw new SvcError('invalid_argument', `the file has ${candidates.length} alerts, and the limit is ${mostRules}; split it`);
    }
    const { fit, refused } = await this.#check(candidates, request.overwrite ?? false);
    const bodies = fit.map(({ body }) => body);
    const dryRun = request.dry_run ?? false;
    const stored = dryRun ? [] : await this.#parts.rules.putAll(call, bodies);
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
      left_out: [...leftOut, ...refused],
    };
  }

  async #check(candidates: readonly Candidate[], overwrite: boolean): Promise<{ readonly fit: readonly Fit[]; readonly refused: readonly LeftOut[] }> {
    const fit: Fit[] = [];
    const refused: LeftOut[] = [];
    for (const candidate of candidates) {
      try {
        const body = bodyOf(candidate.draft);
        await assertWorks(body, this.#parts.dependencies);
        await this.#assertFree(body.rule_key, overwrite);
        fit.push({ candidate, body });
      } catch (error) {
        // A store that does not answer says nothing about the file.
        if (!isSvcError(error) || !['invalid_argument', 'conflict'].includes(error.code)) {
          throw error;
        }
        refused.push({ group: candidate.group, rule: candidate.alert, reason: messageOf(error) });
      }
    }
    return { fit, refused };
  }

  async #assertFree(key: string, overwrite: boolean): Promise<void> {
    const found = await this.#parts.findByKey(key);
    if (found === undefined || (overwrite && found.source_type === 'metricsdb_external')) {
      return;
    }
    const advice =
      found.source_type === 'metricsdb_external'
        ? 'was imported before; ask for overwrite to replace it'
        : 'exists already, and was not imported; choose a key_prefix';
    throw new SvcError('conflict', `the rule ${key} ${advice}`);
  }
}

interface Fit {
  readonly candidate: Candidate;
  readonly body: RuleBody;
}
