import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('iam', {
  action: ['invalid_argument', 'action {message}'],
  already_member: ['conflict', 'User {user} is already a member of this organization.'],
  too_many_orgs_of_user: [
    'conflict',
    'User {user} already belongs to {max} organizations, which is the limit.',
  ],
  not_org_admin: [
    'forbidden',
    'Only administrators, and members with the role org_admin in {name}, may change its members.',
  ],
  narrows_members: [
    'forbidden',
    '{name} limits which devices its members see, so its members cannot remove users from it; ask an administrator.',
  ],
  no_member: ['not_found', 'User {user} is not a member of organization {org}.'],
  too_many_orgs: [
    'conflict',
    'The limit of {max} organizations has been reached; delete some that you no longer need.',
  ],
  default_org: [
    'conflict',
    'The default organization contains every new user and cannot be deleted.',
  ],
  has_children: [
    'conflict',
    '{name} is the parent of other organizations; move or delete them first.',
  ],
  narrows_devices: [
    'conflict',
    '{name} limits what its {count} members see; remove its device selector or its members first.',
  ],
  no_org: ['not_found', 'There is no organization {id}.'],
  org_taken: ['conflict', 'An organization named {name} already exists.'],
  below_itself: [
    'conflict',
    'Organization {id} cannot be its own parent; choose a parent outside it.',
  ],
  role_taken: ['conflict', 'A role named {name} already exists.'],
  too_many_roles: [
    'conflict',
    'The limit of {max} custom roles has been reached; delete some that you no longer need.',
  ],
  role_held: ['conflict', '{holders} the role {name}; assign another role first.'],
  grants: ['invalid_argument', 'grants: {grant} {message}; GET /api/v1/policy/actions lists them.'],
  no_role: ['not_found', 'There is no role {name}.'],
  built_in_role: [
    'conflict',
    'The role {name} is built in; change its grants in the setting policy.roles.',
  ],
  beyond_you: [
    'forbidden',
    'You cannot change a role that grants {beyond}, because your own role does not grant it.',
  ],
  too_many_users: [
    'conflict',
    'The limit of {max} accounts has been reached; delete some that you no longer need.',
  ],
  password_changed: [
    'conflict',
    'The password was just changed by another request; try again with the new password.',
  ],
  changed: ['conflict', 'The account has changed since this link was sent; request another link.'],
  last_admin: ['conflict', '{email} is the last active admin; make another user an admin first.'],
  current_password: ['invalid_argument', 'current_password {message}'],
  not_your_password: ['forbidden', 'current_password is wrong.'],
  no_user: ['not_found', 'There is no user {id}.'],
  email_taken: ['conflict', 'A user with the e-mail address {email} already exists.'],
  role_unknown: ['invalid_argument', 'role {message}; there is no role "{role}".'],
  account_gone: ['conflict', 'The account {email} was removed or disabled by another request.'],
});
