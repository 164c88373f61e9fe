import type { Generated, Kysely } from 'kysely';

export type UserStatus = 'active' | 'disabled';
export type OrgRole = 'org_admin' | 'member' | 'viewer';

export interface IamTables {
  iam_users: {
    id: Generated<number>;
    email: string;
    display_name: string;
    role: string;
    status: UserStatus;
    password_hash: string;
    version: Generated<number>;
    created_by: number | null;
    created_at: number;
    updated_at: number;
    last_login_at: number | null;
    deleted_at: number | null;
  };
  iam_orgs: {
    id: Generated<number>;
    name: string;
    name_key: string;
    description: string;
    parent_id: number | null;
    device_selector: string | null;
    created_at: number;
    updated_at: number;
  };
  iam_members: { org_id: number; user_id: number; role: OrgRole };
  iam_roles: {
    name: string;
    description: string;
    grants: string;
    created_by: number | null;
    created_at: number;
    updated_at: number;
  };
}

/** Either the committed state or a transaction. */
export type Iam = Kysely<IamTables>;
