"""Calls of view ops and their kin, right and wrong ones: what they give is compared in `test_view_ops`."""

from __future__ import annotations

CALLS = """
L.cat(a) | L.cat([]) | L.stack([]) | L.cat([s,s]) | L.cat([a,a[0]]) | L.cat([a,a.t()]) | L.cat([a,a],2)
L.cat([a,a],-3) | L.cat([a,1]) | L.stack([a,1]) | L.stack([a,a.t()]) | L.stack([a,a],3) | L.stack([a,a],-4)
L.stack(a).shape | L.cat([a,L.tensor([])]).shape | L.cat(1) | L.stack(1) | L.cat([1,2])
L.cat([a.int(),a.double()]) | L.stack([s,s]).shape | L.concat([a,a],dim=1).shape
L.concatenate([a,a],dim=1).shape | a.unbind(2) | a.unbind(-3) | s.unbind() | s.unbind(0)
L.zeros(0,3).unbind() | L.zeros(3,0).unbind() | a.split(0) | a.split(-1) | s.split(1) | a.split(1,2)
a.split([1,2]) | a.split([1,1]) | a.split([3,-1]) | L.zeros(0).split(2) | L.zeros(0).split(0) | a.split(100)
a.split(1.5) | a.split_with_sizes([1,5]) | L.split(a,2,dim=1) | L.split(a,(1,2),1) | L.split(a,[],1)
L.zeros(0).split([]) | a.chunk(0) | a.chunk(-1) | a.chunk(2,1) | a.chunk(5,1) | s.chunk(1)
L.zeros(0).chunk(3) | a.chunk(2,3) | iter(s) | list(s) | L.unbind(3) | a.unsafe_split(0) | a.unsafe_chunk(0)
a.narrow(1,1,5) | a.narrow(1,-5,1) | a.narrow(2,0,1) | a.narrow(0,0,-1) | s.narrow(0,0,1) | a.narrow(1,3,0)
a.narrow(1,4,0) | a.narrow(0,L.tensor([0]),1) | a.narrow(0,L.tensor(0.),1) | a.narrow(1,-1,1)
a.diagonal(0,0,0) | a.diagonal(0,0,2) | s.diagonal() | c.diagonal() | a.diagonal(5) | a.diagonal(-5)
L.diagonal(b,offset=1,dim1=0,dim2=2) | a.diagonal(offset=1) | c.unfold(0,4,1) | c.unfold(0,2,0)
c.unfold(1,2,1) | s.unfold(0,1,1) | s.unfold(0,2,1) | c.unfold(0,-1,1) | c.unfold(0,0,1)
c.unfold(dimension=0,size=2,step=1) | a.movedim(0,5) | b.movedim((0,1),(0,)) | b.movedim((0,0),(0,1))
b.movedim((0,1),(0,0)) | L.movedim(b,(0,1),(1,2)) | L.moveaxis(b,0,2) | s.movedim(0,0) | L.swapaxes(a,0,3)
L.swapdims(a,0,1) | a.swapaxes(axis0=0,axis1=1) | a.swapdims(dim0=0,dim1=1) | L.transpose(a,dim0=0,dim1=1)
c.mT | c.H | b.H | c.mH | c.adjoint() | L.adjoint(a) | c.expand_as(a) | a.expand_as(c) | a.view_as(c)
a.reshape_as(b) | L.broadcast_to(c,(2,3)) | L.reshape(a,(3,-1)) | a.reshape(-1,-1) | a.reshape(4,2)
a.view(5) | a.t().view(6) | a.reshape(3.5) | a.view(-1,-1) | L.zeros(0,3).view(-1,0) | a.view(-2,3)
a.reshape(0,-1) | a.view(size=(3,2)) | a.unflatten(1,(3,2)) | a.unflatten(1,(3,-1)) | a.unflatten(2,(3,))
a.unflatten(1,()) | L.unflatten(a,0,(1,2)) | a.unflatten(0,[2,1]) | b.flatten(1) | b.flatten(2,1)
b.flatten(0,-2) | b.flatten(3) | L.flatten(b,start_dim=1) | s.flatten() | b.flatten(end_dim=1) | L.ravel(a)
a.t().ravel() | L.zeros(1,3,1).squeeze((0,2)) | L.zeros(1,3,1).squeeze((0,1))
L.zeros(1,3,1).squeeze((0,0)) | L.zeros(1,3,1).squeeze((0,5)) | L.squeeze(L.zeros(1,3,1),(0,-1))
L.zeros(1,3,1).squeeze(dim=2) | L.zeros(1,3,1).squeeze(3) | L.squeeze(L.zeros(1,2),dim=0) | s.squeeze(1)
L.select(a,1,1) | a.select(1,3) | a.select(0,-1) | L.select(a,dim=0,index=1) | a.as_strided((2,2),(1,2))
a.as_strided((2,2),(3,1),1) | a.as_strided((9,),(1,)) | a.as_strided((2,),(1,1)) | a.as_strided((2,),(-1,))
a.as_strided((2,),(1,),-1) | L.as_strided(a,(2,),(2,)) | a[1].as_strided((2,),(1,))
a[1].as_strided((2,),(1,),0) | a.as_strided((-2,),(1,)) | L.unsqueeze(a,4) | a.unsqueeze(-4)
L.permute(a,(0,)) | a.permute(0,0) | a.permute(0,2) | a.permute((1,0)) | a.permute(dims=(1,0)) | a.expand(2)
a.expand(3,3) | a.expand(-1,2,3) | a.expand(2,-1,3) | c.expand(size=(2,3)) | a.expand(2,2,-2) | b.t()
L.t(a) | L.atleast_1d(s) | L.atleast_2d(s) | L.atleast_3d(a) | L.atleast_2d(s,c) | L.atleast_1d([s,c])
a.stride() | a.t().stride() | a.stride(1) | a[:,1].storage_offset() | s.stride() | a.t().is_contiguous()
a.is_contiguous() | a.dim() | b.size(-1) | a.numel() | a.nelement() | a.size(5) | a.stride(-1)
a.transpose(0,2) | s.transpose(0,0) | s.transpose(0,1) | s.t() | L.broadcast_tensors(c,a) | L.diag_embed(c)
a.diag_embed(1) | L.linalg.diagonal(a) | L.detach(a) | a[L.tensor(1)] | a[L.tensor(0):] | a[None,...,None,1]
a[0,0,0] | s[...] | a[::-1] | a[::0] | a[1:0] | a[-5:-1] | a[10:20] | a[:,None].shape | s[0] | s[None]
s[:] | a[(0,1)] | a[0][1] | a[:,-1] | a[:,3] | a[L.tensor(5)] | L.positive(a) | +a
L.tensor(True).positive() if hasattr(s,"positive") else L.positive(L.tensor(True)) | L.real(a) | a.imag
L.imag(a) | L.conj(a) | a.is_conj() | a.is_neg() | L.is_conj(a) | L.is_complex(a) | a.is_complex()
a.is_floating_point() | L.is_floating_point(a)
"""
