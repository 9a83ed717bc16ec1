// Fetches and returns the response with its body: what the runtime itself costs for one hop.
export default {
  fetch(request, env) {
    return fetch(new Request(env.UPSTREAM + new URL(request.url).pathname, request));
  },
};
