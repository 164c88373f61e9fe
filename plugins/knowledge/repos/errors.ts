import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('knowledge', {
  programs_away: [
    'unavailable',
    'the plugin programs, which runs git, is not available; enable it and sync again',
  ],
  program_missing: [
    'unavailable',
    '{name} is not installed on this machine (Debian: apt-get install {debian}); install it and sync again',
  ],
  git_too_old: [
    'unavailable',
    'git {oldest} or newer is needed, and {file} is {major}.{minor}; install a newer one',
  ],
  repo_address: ['invalid_argument', 'the address of the repository {address}'],
  no_repository: [
    'not_found',
    'there is no repository {id}; GET /api/v1/knowledge/repos lists them',
  ],
  not_a_member: [
    'not_found',
    'there is no organization {org} that you belong to; GET /api/v1/orgs lists them',
  ],
  ssh_credentials: [
    'invalid_argument',
    'a repository over SSH takes an ssh_identity_id, and neither username nor password; its user stands in the address',
  ],
  https_credentials: [
    'invalid_argument',
    'a repository over HTTPS takes username and password together, or neither, and no ssh_identity_id',
  ],
  vault_mount: [
    'invalid_argument',
    'the folder vault is for the playbooks of svc; choose another mount',
  ],
  mount_taken: [
    'conflict',
    'repository {id} has its documents in {mount}; choose another mount, beside it',
  ],
  clone_name: [
    'internal',
    'the folder of a repository has another name than it was given; restore the database',
  ],
});
