import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  programs_away: [
    'unavailable',
    'The programs plugin, which runs git, is not available; enable it and sync again.',
  ],
  program_missing: [
    'unavailable',
    '{name} is not installed on this machine (Debian: apt-get install {debian}); install it and sync again.',
  ],
  git_too_old: [
    'unavailable',
    'git {oldest} or newer is required, but {file} is {major}.{minor}; install a newer version.',
  ],
  repo_address: ['invalid_argument', "The repository's address {address}."],
  no_repository: [
    'not_found',
    'There is no repository {id}; GET /api/v1/knowledge/repos lists all repositories.',
  ],
  not_a_member: [
    'not_found',
    'You do not belong to organization {org}; GET /api/v1/orgs lists your organizations.',
  ],
  ssh_credentials: [
    'invalid_argument',
    'A repository over SSH needs an ssh_identity_id, but no username or password; its user is part of the address.',
  ],
  https_credentials: [
    'invalid_argument',
    'A repository over HTTPS takes both username and password, or neither of them, and no ssh_identity_id.',
  ],
  site_address: ['invalid_argument', 'The address of the website {problem}.'],
  site_fields: [
    'invalid_argument',
    'A website takes no branch, path_prefix, ssh_identity_id, username or password; leave them out.',
  ],
  vault_mount: [
    'invalid_argument',
    'The folder "vault" is reserved for the playbooks that ship with svc; choose another mount point.',
  ],
  mount_taken: [
    'conflict',
    'Repository {id} has its documents in {mount}; choose another mount point.',
  ],
  clone_name: ['internal', "A repository's folder was renamed; restore the database."],
});
