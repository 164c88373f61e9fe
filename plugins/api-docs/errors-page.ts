import type { Contribution, DeclaredError } from 'svc/sdk';
import { escapedHtml } from 'svc/template';

import { docsStyle } from './docs-page.ts';

interface ListedError extends DeclaredError {
  /** A library's error is thrown by each plugin that is bundled with it. */
  readonly plugins: readonly string[];
}

/**
 * Lists the errors of the running plugins by reason, as one page that needs neither script nor
 * network.
 */
export function errorsPage(errors: readonly Contribution<DeclaredError>[]): string {
  const listed = listedOnce(errors);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Errors of svc</title><style>${docsStyle}</style></head>
<body><h1>Errors <small>${listed.length}</small></h1>
<p>Find an error by the reason that its answer carries in the header <code>x-svc-reason</code>, and that its line in the log carries as <code>reason</code>. Words in braces stand for values.</p>
<table><tr><th>Reason</th><th>Status</th><th>Code</th><th>Sentence</th><th>Plugin</th></tr>
${listed.map(rowText).join('\n')}
</table>
</body></html>
`;
}

function listedOnce(errors: readonly Contribution<DeclaredError>[]): readonly ListedError[] {
  const byReason = new Map<string, ListedError>();
  for (const { pluginId, value } of errors) {
    const plugins = [...(byReason.get(value.reason)?.plugins ?? []), pluginId];
    byReason.set(value.reason, { ...value, plugins });
  }
  return [...byReason.values()].sort((a, b) => (a.reason < b.reason ? -1 : 1));
}

const rowText = ({ reason, status, code, sentence, plugins }: ListedError): string =>
  `<tr id="${escapedHtml(reason)}"><td><code>${escapedHtml(reason)}</code></td><td>${status}</td><td><code>${code}</code></td><td>${escapedHtml(sentence)}</td><td>${escapedHtml(plugins.toSorted().join(', '))}</td></tr>`;
