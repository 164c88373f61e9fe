import type { Generated } from 'kysely';

export interface SkillTables {
  skill_evidence: {
    id: Generated<number>;
    tool: string;
    bytes: number;
    sha256: string;
    truncated: number;
    trust: 'trusted' | 'untrusted';
    /** `user:5`. */
    owner: string;
    /** JSON of the selectors under which it was asked for; null: of all devices. */
    selectors: string | null;
    /** JSON of the params of the call; null: they were not kept. */
    params: string | null;
    created_at: number;
  };
}
