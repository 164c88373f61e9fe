export { assertBounded, type YamlBounds } from './bounds.ts';
export * from './foreign-yaml.ts';
