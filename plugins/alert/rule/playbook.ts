import runbooks from '../rules/runbooks.json' with { type: 'json' };

const scheme = 'playbook://';

/**
 * Returns the path of the playbook in the vault; undefined if the runbook is a link, or missing.
 */
export const playbookOf = (url: string): string | undefined =>
  url.startsWith(scheme) ? url.slice(scheme.length) : undefined;

/**
 * Returns the steps of a runbook that ships with the product; any other is a link, or a document of
 * the vault.
 */
export const stepsOf = (url: string): readonly string[] =>
  (runbooks as Readonly<Record<string, readonly string[]>>)[playbookOf(url) ?? ''] ?? [];
