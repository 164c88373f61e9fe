/** The part of `contributes` in `plugin.json` that holds commands as data: the words after `svc`, then what they ask. */
export const verbPoint = 'cli.verbs';
