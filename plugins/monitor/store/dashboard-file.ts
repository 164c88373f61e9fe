import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { parseForeignYaml } from 'svc/foreign-yaml';
import { messageOf } from 'svc/sdk';
import type { Static } from 'typebox';

import type { Dashboard } from '../model/dashboard.ts';
import { assertPanel, complete, type PanelBody } from '../model/panel.ts';
import { placeBelow } from '../model/position.ts';
import { DashboardFile } from '../model/schema.ts';
import { assertVariables } from '../variables/variable-rules.ts';

const longest = 512 * 1_024;
/** A panel has about a hundred. */
const maxLexemes = 20_000;
/** Compiler options; not optimized, since the schema is large, and few files are read with it. */
const options = {
  strict: false,
  meta: false,
  validateSchema: false,
  allErrors: false,
  allowUnionTypes: true,
  code: { optimize: false },
} as const;

/** Contribution of a plugin: a dashboard, or the reason why it is invalid. */
export type ReadDashboard =
  | { readonly dashboard: Dashboard }
  | { readonly problem: string; readonly uid?: string };

/** Reader of plugins' dashboard files; an error in one is reported, never thrown. */
export class DashboardReader {
  #check: ValidateFunction<Static<typeof DashboardFile>> | undefined;

  read(contributed: unknown, pluginId: string): ReadDashboard {
    let name = {};
    try {
      const { content, where } = contentOf(contributed);
      name = uidOf(content);
      const fits = (this.#check ??= new Ajv(options).compile<Static<typeof DashboardFile>>(
        DashboardFile,
      ));
      if (!fits(content)) {
        return { ...name, problem: `${where}${sentence(fits.errors?.[0])}` };
      }
      return { dashboard: dashboardOf(content, pluginId) };
    } catch (error) {
      return {
        ...name,
        problem: `${isText(contributed) ? `${contributed.file}: ` : ''}${messageOf(error)}`,
      };
    }
  }
}

/** Returns the uid by which a broken dashboard can be requested, if it has one. */
const uidOf = (content: unknown): { readonly uid?: string } => {
  const uid: unknown =
    typeof content === 'object' && content !== null && 'uid' in content ? content.uid : undefined;
  return typeof uid === 'string' && /^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/.test(uid) ? { uid } : {};
};

function contentOf(contributed: unknown): { content: unknown; where: string } {
  if (!isText(contributed)) {
    return { content: contributed, where: '' };
  }
  const { file, text } = contributed;
  if (text.length > longest) {
    throw new Error(`is longer than ${longest / 1_024} KiB`);
  }
  // A file that refers to itself over and over would grow without end.
  return {
    content: parseForeignYaml(text, { aliases: 20, lexemes: maxLexemes }),
    where: `${file}: `,
  };
}

const isText = (value: unknown): value is { readonly file: string; readonly text: string } =>
  typeof value === 'object' &&
  value !== null &&
  'file' in value &&
  'text' in value &&
  typeof value.file === 'string' &&
  typeof value.text === 'string';

function dashboardOf(
  {
    uid,
    title,
    description = '',
    variables = [],
    sources = [],
    panels,
  }: Static<typeof DashboardFile>,
  source: string,
): Dashboard {
  assertVariables(variables);
  const placed: PanelBody[] = [];
  panels.forEach((sketch, index) => {
    const panel = complete(sketch, placeBelow(placed.map(({ position }) => position)));
    try {
      assertPanel(panel);
    } catch (error) {
      throw new Error(`panels.${index} (${panel.title}): ${messageOf(error)}`, { cause: error });
    }
    placed.push(panel);
  });
  return {
    uid,
    title,
    description,
    source,
    variables,
    sources,
    panels: placed.map((panel) => ({ ...panel, id: null, source })),
  };
}

function sentence(error: ErrorObject | undefined): string {
  const field = error?.instancePath
    ? `${error.instancePath.slice(1).replaceAll('/', '.')} `
    : 'the dashboard ';
  const parameters = (error?.params ?? {}) as Record<string, unknown>;
  switch (error?.keyword) {
    case 'additionalProperties':
      return `${field}has an unknown field "${String(parameters['additionalProperty'])}"`;
    case 'required':
      return `${field}lacks "${String(parameters['missingProperty'])}"`;
    case 'enum':
      return `${field}must be one of ${(parameters['allowedValues'] as unknown[]).join(', ')}`;
    default:
      return `${field}${error?.message ?? 'does not fit'}`;
  }
}
