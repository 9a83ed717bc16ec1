import { Miniflare, convertV4MiniflareOptions } from "miniflare";
import { createHash } from "node:crypto";
import http from "node:http";
import fs from "node:fs";
import { execSync } from "node:child_process";
const mode = process.argv[2] ?? "json";
execSync("npx wrangler deploy --dry-run --outdir /tmp/nomin --minify=false", {env:{...process.env,WRANGLER_SEND_METRICS:"false"},stdio:"ignore"});
let code=fs.readFileSync("/tmp/nomin/worker.js","utf8");
const ans=JSON.stringify({id:"chatcmpl-1",object:"chat.completion",created:1,model:"m",choices:[{index:0,message:{role:"assistant",content:"Hello there, how are you?",refusal:null,annotations:null,audio:null,function_call:null,reasoning:null},logprobs:null,finish_reason:"stop",stop_reason:null,token_ids:null}],service_tier:null,usage:{prompt_tokens:5,total_tokens:9,completion_tokens:4}});
const up=http.createServer((req,res)=>{req.resume();req.on("end",()=>{res.writeHead(200,{"content-type":"application/json","content-length":ans.length});res.end(ans)})});
await new Promise<void>(r=>up.listen(0,"127.0.0.1",()=>r()));
const port=(up.address() as any).port;
const h=(k:string)=>"sha256:"+createHash("sha256").update(k).digest("hex");
const config={upstreams:{gpu:{provider:"vllm",base_url:`http://127.0.0.1:${port}/v1`}},routes:{m:{targets:[{upstream:"gpu"}]}},tenants:{a:{keys:[h("sk-a")]},b:{keys:[h("sk-b")]}}};
const empty=`export default {async fetch(r){return fetch("http://127.0.0.1:${port}/v1/chat/completions",{method:"POST",headers:{"content-type":"application/json"},body:r.body})}}`;
const mk=(c:string,insp?:number)=>new Miniflare(convertV4MiniflareOptions({host:"127.0.0.1",port:0,cf:false,unsafeDirectSockets:[{host:"127.0.0.1",port:0}],...(insp?{inspectorPort:insp}:{}),modules:[{type:"ESModule",path:"w.js",contents:c}],compatibilityDate:"2026-11-02",compatibilityFlags:["enable_request_signal","no_nodejs_compat"],bindings:{GATEWAY:config}} as any));

const body=JSON.stringify({model:"m",messages:[{role:"system",content:"You are helpful. ".repeat(20)},{role:"user",content:"hi there ".repeat(50)}],temperature:0.5});
const agent=new http.Agent({keepAlive:true,maxSockets:16});
const one=(u:URL)=>new Promise<void>((res,rej)=>{const q=http.request(u,{method:"POST",agent,headers:{authorization:"Bearer sk-a","content-type":"application/json","content-length":body.length}},r=>{if(r.statusCode!==200)rej(new Error(""+r.statusCode));r.resume();r.on("end",()=>res())});q.on("error",rej);q.end(body)});
const load=async(u:URL,n:number)=>{let k=0;await Promise.all(Array.from({length:16},async()=>{while(k++<n)await one(u)}))};
const pidOf=()=>fs.readdirSync("/proc").filter(d=>/^\d+$/.test(d)).filter(d=>{try{return fs.readFileSync(`/proc/${d}/stat`,"utf8").split(") ")[1]!.split(" ")[1]===String(process.pid)&&fs.readFileSync(`/proc/${d}/comm`,"utf8").startsWith("workerd")}catch{return false}});
const cpu=(pid:string)=>{let t=0;for(const d of fs.readdirSync(`/proc/${pid}/task`)){t+=+fs.readFileSync(`/proc/${pid}/task/${d}/schedstat`,"utf8").split(" ")[0]!}return t/1e3};
const before=new Set(pidOf());const mf=mk(code,9333);
const u1=new URL("/v1/chat/completions",await mf.unsafeGetDirectURL()); const p1=pidOf().filter(x=>!before.has(x)).at(-1)!;
const b2=new Set(pidOf()); const me=mk(empty); const u2=new URL("/",await me.unsafeGetDirectURL()); const p2=pidOf().filter(x=>!b2.has(x)).at(-1)!;
await load(u1,1500); await load(u2,1500);
const rs:number[]=[],es:number[]=[],ss:number[]=[];const med=(x:number[])=>x.sort((a,b)=>a-b)[x.length>>1]!;
for(let r=0;r<14;r++){ let c=cpu(p2); await load(u2,500); const ce=(cpu(p2)-c)/500; c=cpu(p1); await load(u1,500); const cs=(cpu(p1)-c)/500; rs.push(cs/ce);es.push(ce);ss.push(cs); }
console.log("median cpu: empty",med(es).toFixed(0),"sluice",med(ss).toFixed(0),"ratio",med(rs).toFixed(2));
if(process.argv[3]==="prof"){
const list=await (await fetch("http://127.0.0.1:9333/json")).json() as any[]; const ws=new WebSocket(list[0].webSocketDebuggerUrl); await new Promise(r=>ws.onopen=r);
let id=0; const pend=new Map<number,(v:any)=>void>(); ws.onmessage=(e)=>{const m=JSON.parse(e.data as string); if(m.id) pend.get(m.id)?.(m.result)}; const call=(m:string,p={})=>new Promise<any>(r=>{pend.set(++id,r); ws.send(JSON.stringify({id,method:m,params:p}))});
await call("Profiler.enable"); await call("Profiler.setSamplingInterval",{interval:100}); await call("Profiler.start"); await load(u1,4000); const {profile:p}=await call("Profiler.stop");
const self=new Map<string,number>(); const byId=new Map(p.nodes.map((n:any)=>[n.id,n])); p.samples.forEach((s:number,i:number)=>{const n:any=byId.get(s); const k=n.callFrame.functionName+":"+n.callFrame.lineNumber; self.set(k,(self.get(k)||0)+p.timeDeltas[i])});
const tot=[...self].filter(([k])=>!/idle/.test(k)).reduce((a,[,v])=>a+v,0);
[...self].sort((a,b)=>b[1]-a[1]).slice(0,45).forEach(([k,v])=>console.log((v/4000).toFixed(1).padStart(7)+"us",k)); console.log("total",(tot/4000).toFixed(1)); ws.close();
}
await mf.dispose(); await me.dispose(); up.close(); process.exit(0);
