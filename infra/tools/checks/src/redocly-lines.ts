/**
 * Plugin of redocly.yaml: declares that `x-itemSchema` of a media type is a schema (`itemSchema` of OpenAPI 3.2), so that
 * Redocly checks its references and counts them as uses of a component.
 */
interface Types {
  MediaType: { properties: object };
}

// Redocly takes a plugin from the default export.
// oxlint-disable-next-line import/no-default-export
export default () => ({
  id: 'lines',
  typeExtension: {
    oas3: ({ MediaType, ...others }: Types): Types => ({
      ...others,
      MediaType: { ...MediaType, properties: { ...MediaType.properties, 'x-itemSchema': 'Schema' } },
    }),
  },
});
