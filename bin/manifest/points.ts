import { defineExtensionPoint, type PointDeclaration } from '../../core/sdk/index.ts';
import { Verbs } from './verb.ts';

/** Points that the command line reads from manifests on the disk. They are open for what a pack is told at its install. */
export const programPoints: readonly PointDeclaration[] = [
  Verbs,
  ...['cli.commands', 'config.files'].map((id) => defineExtensionPoint<unknown>(id)),
];
