/** Bundled by esbuild. */
declare module '*.css';
