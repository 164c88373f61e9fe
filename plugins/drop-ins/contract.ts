import { defineExtensionPoint } from 'svc/sdk';

/** A persona (`agents/<name>.md`) or a skill (`skills/<name>/SKILL.md`) that a plugin's folder carries; the host contributes it. */
export interface CarriedFile {
  /** Within the plugin's folder. */
  readonly file: string;
  /** As people are told where it stands. */
  readonly path: string;
  readonly text: string;
}

export const CarriedFiles = defineExtensionPoint<CarriedFile>('drop-ins.files');
