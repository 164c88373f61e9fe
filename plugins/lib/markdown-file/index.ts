export { errors as markdownErrors } from './errors.ts';
export type { Where } from './header-schema.ts';
export { readFrontMatter } from './front-matter.ts';
export { personaOf, readPersona } from './persona-file.ts';
export { readPlainFile } from './plain-file.ts';
export { readSkill } from './skill-file.ts';
