export * from './chart-picture.ts';
