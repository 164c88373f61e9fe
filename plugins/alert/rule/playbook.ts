import runbooks from '../rules/runbooks.json' with { type: 'json' };

const scheme = 'playbook://';

/** The path of the document in the vault; undefined where a runbook is a link, or there is none. */
export const playbookOf = (url: string): string | undefined =>
  url.startsWith(scheme) ? url.slice(scheme.length) : undefined;

/** What to do, by a runbook that comes with the product; another one is a link, or a document of the vault. */
export const stepsOf = (url: string): readonly string[] =>
  (runbooks as Readonly<Record<string, readonly string[]>>)[playbookOf(url) ?? ''] ?? [];
