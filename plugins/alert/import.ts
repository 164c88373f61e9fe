import { isSvcError, messageOf, SvcError } from 'svc/sdk';
import type { Static } from 'typebox';

import { type Candidate, candidatesOf } from './import-candidates.ts';
import { readRuleFile } from './prometheus-file.ts';
import { assertWorks, type Authorities } from './rule-check.ts';
import { bodyOf } from './rule-draft.ts';
import type { ImportShown, RuleFileBody } from './rule-schema.ts';
import type { RuleBody } from './rule-tables.ts';
import type { By, Rules } from './rules.ts';

export type ImportWish = Static<typeof RuleFileBody>;
export type ImportReport = Static<typeof ImportShown>;
export type Importer = (by: By, wish: ImportWish) => Promise<ImportReport>;

export interface ImporterParts {
  readonly rules: Rules;
  readonly authorities: Authorities;
  /** The rule of that key that is there already. */
  readonly known: (ruleKey: string) => Promise<{ readonly id: number; readonly source_type: RuleBody['source_type'] } | undefined>;
}

const mostRules = 1_000;

type LeftOut = ImportReport['left_out'][number];

/** Takes over what a Prometheus rule file says, and says what of it has no counterpart here. */
export const createImporter =
  ({ rules, authorities, known }: ImporterParts): Importer =>
  async (by, wish) => {
    const { candidates, leftOut } = candidatesOf(readRuleFile(wish.content), wish);
    if (candidates.length > mostRules) {
      throw new SvcError('invalid_argument', `the file has ${candidates.length} alerts; ${mostRules} at a time are the most`);
    }
    const fit: { candidate: Candidate; body: RuleBody }[] = [];
    const refused: LeftOut[] = [];
    for (const candidate of candidates) {
      try {
        const body = bodyOf(candidate.draft);
        await assertWorks(body, authorities);
        await assertFree(body.rule_key, wish.overwrite ?? false, known);
        fit.push({ candidate, body });
      } catch (error) {
        // A store that does not answer says nothing about the file.
        if (!isSvcError(error) || !['invalid_argument', 'conflict'].includes(error.code)) {
          throw error;
        }
        refused.push({ group: candidate.group, rule: candidate.alert, reason: messageOf(error) });
      }
    }
    const dryRun = wish.dry_run ?? false;
    const stored = dryRun
      ? []
      : await rules.put(
          by,
          fit.map(({ body }) => body),
        );
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
  };

async function assertFree(key: string, overwrite: boolean, known: ImporterParts['known']): Promise<void> {
  const there = await known(key);
  if (there === undefined || (overwrite && there.source_type === 'metricsdb_external')) {
    return;
  }
  const advice =
    there.source_type === 'metricsdb_external'
      ? 'was imported before; ask for overwrite to replace it'
      : 'is there already, and was not imported; choose a key_prefix';
  throw new SvcError('conflict', `the rule ${key} ${advice}`);
}
