import type { SettingState } from 'svc/sdk';

/** Every setting that plugins declare at this moment, as markdown; defaults alone, since values are for administrators. */
export function settingsChapter(settings: readonly SettingState[]): string {
  const owners = [...new Set(settings.map(({ owner }) => owner))].sort();
  const sections = owners.map((owner) => {
    const rows = settings.filter((setting) => setting.owner === owner).map(row);
    return `## ${owner}\n\n| Setting | Variable | Default | What it does |\n| --- | --- | --- | --- |\n${rows.join('\n')}`;
  });
  return `# Settings\n\nWhat the plugins of this svc declare. \`svc setting set KEY VALUE\` and the page of settings change them while it serves; a variable of the environment goes before both, then \`config\` files, then the default.\n\n${sections.join('\n\n')}\n`;
}

function row({ key, declaration: { env, default: usual, description, sensitive = false, at_start: atStart = false } }: SettingState): string {
  const cells = [
    `\`${key}\``,
    env === undefined ? '' : `\`${env}\``,
    usual === undefined || sensitive ? '' : `\`${JSON.stringify(usual)}\``,
    `${description}${atStart ? ' (read at the start)' : ''}`,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`).replaceAll(/\s+/g, ' ')).join(' | ')} |`;
}
