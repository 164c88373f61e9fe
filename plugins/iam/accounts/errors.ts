import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('iam', {
  action: ['invalid_argument', 'action {message}'],
  already_member: ['conflict', '{email} is a member of this organization already'],
  too_many_orgs_of_user: [
    'conflict',
    '{email} belongs to {max} organizations already, which is the most',
  ],
  not_org_admin: [
    'forbidden',
    'only administrators and those who are org_admin of {name} may change its members',
  ],
  narrows_members: [
    'forbidden',
    '{name} narrows which devices its members see, so its members cannot take accounts out of it; ask an administrator',
  ],
  no_member: ['not_found', 'user {user} is not a member of organization {org}'],
  too_many_orgs: [
    'conflict',
    'there are {max} organizations already, the limit; delete some that are not needed',
  ],
  default_org: ['conflict', 'the default organization holds every new user and cannot be deleted'],
  has_children: [
    'conflict',
    '{name} is the parent of other organizations; move or delete them first',
  ],
  narrows_devices: [
    'conflict',
    '{name} narrows what its {count} members see; take its device selector or its members off first',
  ],
  no_org: ['not_found', 'there is no organization {id}'],
  org_taken: ['conflict', 'there is an organization {name} already'],
  below_itself: [
    'conflict',
    'organization {id} cannot stand below itself; choose a parent outside of it',
  ],
  role_taken: ['conflict', 'there is a role {name} already'],
  too_many_roles: [
    'conflict',
    'there are {max} custom roles already, which is the most; delete one that is not needed',
  ],
  role_held: ['conflict', '{holders} the role {name}; give them another one first'],
  grants: ['invalid_argument', 'grants: {grant} {message}; GET /api/v1/policy/actions lists them'],
  no_role: ['not_found', 'there is no role {name}'],
  built_in_role: [
    'conflict',
    'the role {name} is built in; what it grants is the setting policy.roles',
  ],
  beyond_you: [
    'forbidden',
    'a role that grants {beyond} is not for you to change, because your own role does not grant it',
  ],
  too_many_users: [
    'conflict',
    'there are {max} accounts already, the limit; delete some that are not needed',
  ],
  password_changed: [
    'conflict',
    'the password was changed by another request just now; try again with the new one',
  ],
  changed: ['conflict', 'the account was changed meanwhile; ask for another link'],
  last_admin: ['conflict', '{email} is the last active admin; make another user an admin first'],
  current_password: ['invalid_argument', 'current_password {message}'],
  not_your_password: ['forbidden', 'current_password is not your password'],
  no_user: ['not_found', 'there is no user {id}'],
  email_taken: ['conflict', 'there is a user with the e-mail {email} already'],
  role_unknown: ['invalid_argument', 'role {message}; there is no "{role}"'],
  account_gone: [
    'conflict',
    'the account {email} was made, and removed or disabled again by another request',
  ],
});
