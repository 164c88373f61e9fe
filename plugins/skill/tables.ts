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
    created_at: number;
  };
}
